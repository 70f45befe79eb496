/** Verbs of requests and of tools. Each line is one group; a word may be in several. `get-rid` is a phrase: "get rid of". */
export const VERBS = `
create add make insert new
create generate produce
create register open establish build set-up spin-up
create write compose draft
delete remove erase destroy drop purge discard trash get-rid throw-away
delete clear wipe
remove kick-out throw-out kick
add put give bring
remove revoke detach unassign unlink
update edit change modify alter adjust amend revise patch
update set replace overwrite
update rename
get fetch retrieve read obtain load pull
get show view display see describe
list show enumerate browse
list get fetch retrieve
search find query look lookup locate discover
get look-up check-out pull-up
search filter
get find
send deliver transmit submit
send post publish
send forward
cancel abort void call-off
cancel stop terminate end
start begin launch initiate kick-off
start run execute trigger invoke
start boot resume
reboot restart
stop halt terminate shutdown kill shut-down
end hang-up finish
stop pause suspend
enable activate turn-on switch-on
disable deactivate turn-off switch-off
upload attach import
upload put store save
download export
copy duplicate clone replicate fork
move transfer relocate migrate
merge combine join concatenate unite
split divide separate
convert transform change
compute calculate evaluate determine estimate
check verify validate confirm
check inspect examine test
approve accept confirm
approve allow grant permit
reject decline deny refuse
assign allocate
link connect attach associate
unlink disconnect detach
follow subscribe watch
unfollow unsubscribe unwatch
schedule plan
book reserve
buy purchase order
pay settle
close finish complete resolve wrap-up
reopen open
lock freeze
block ban
publish release
refund reimburse money-back give-back
restore recover undelete
undo revert rollback take-back roll-back
sync synchronize refresh
monitor watch track observe
compare diff
sort order rank
summarize summarise
analyze analyse
invite ask
login signin authenticate
logout signout
reply answer respond write-back get-back
translate localize
archive hide
count total
recommend suggest
fix repair
install deploy
ship deliver dispatch
reschedule move postpone push-back
subscribe sign-up
unsubscribe opt-out sign-off
`;

/** Everyday nouns of software. */
export const NOUNS = `
user member person people
user account
customer client
customer buyer consumer
employee worker staff
image picture photo
movie film
email mail
message email
message text
message conversation chat
repository repo
folder directory
file document
invoice bill
issue ticket bug
ticket case
task todo
meeting event appointment
calendar schedule agenda
comment reply note
comment remark feedback
tag label
category type kind
phone telephone mobile
price cost fee
price quote rate
money cash
company business organization organisation firm org
team group
role permission
permission access right privilege
setting configuration preference config option
key token credential
secret password
log history record
error failure exception
video clip
song track music
article post
website site
link url
address location
location place position
weather forecast
car vehicle
parcel package shipment
shipment delivery
product item
inventory stock
shop store
cart basket
payment transaction charge
subscription membership plan
statistic metric analytics stat
report analysis
chart graph plot diagram
spreadsheet sheet workbook
server machine host
server instance vm
database db
version revision release
job run
pipeline workflow
dashboard board
alert alarm warning
notification alert
vacation leave holiday absence
salary wage pay payroll
doctor physician
hotel accommodation lodging
recipe dish meal
news headline
route direction path
survey form questionnaire poll
answer response
question query
channel room
webhook hook callback
disk drive volume
backup snapshot
limit quota
certificate cert
coupon discount voucher promo
tax vat
review rating
match game
info information detail
status state
recent latest newest last
own current
summary overview
attachment file
department division
contract agreement
budget spending
expense cost
course class lesson
student pupil
script code
environment env
deployment release
query sql
holiday vacation
profile bio
friend contact
contact lead
audience list segment
campaign newsletter mailing
seller vendor merchant supplier
passenger traveler traveller
trip journey travel
cost spend
app application
picture avatar
`;
