/** Nouns of tools in other languages, by English word: German, French, Spanish, Chinese, Japanese and Hindi. */
export const THINGS = `
user: benutzer nutzer utilisateur utilisateurs usuario usuarios 用户 ユーザー उपयोगकर्ता यूज़र यूजर
member: mitglied mitglieder membre membres miembro miembros 成员 会员 メンバー सदस्य सदस्यों
customer: kunde kunden kundin client clients cliente clientes 客户 顾客 顧客 お客 ग्राहक ग्राहकों
employee: mitarbeiter mitarbeiterin angestellte employé employés salarié empleado empleados 员工 雇员 従業員 社員 कर्मचारी
account: konto konten compte comptes cuenta cuentas 账户 帐户 账号 口座 アカウント खाता खाते
invoice: rechnung rechnungen facture factures factura facturas 发票 账单 請求書 चालान बिल इनवॉइस
payment: zahlung zahlungen paiement paiements pago pagos 付款 支付 支払い 決済 भुगतान
order: bestellung bestellungen auftrag commande commandes pedido pedidos 订单 注文 ऑर्डर आदेश
product: produkt produkte artikel produit produits article producto productos artículo 产品 商品 製品 商品 उत्पाद
price: preis preise prix tarif precio precios 价格 价钱 価格 値段 कीमत मूल्य
subscription: abo abonnement abonnements suscripción suscripciones 订阅 サブスクリプション सदस्यता
transaction: umsätze kontoumsätze überweisung überweisungen virement transferencia transaktion transaktionen buchung transactions transacción transacciones 交易 取引 लेनदेन
balance: saldo kontostand guthaben solde 余额 残高 शेष बैलेंस
budget: budget presupuesto presupuestos 预算 予算 बजट
bank: bank banque banco 银行 銀行 बैंक
tax: steuer steuern taxe impôt tva impuesto impuestos iva 税 税率 税金 税率 कर टैक्स
message: nachricht nachrichten message messages mensaje mensajes 消息 信息 メッセージ संदेश मैसेज
email: mail mails e-mail courriel correo correos 邮件 电子邮件 メール ईमेल
channel: kanal kanäle canal canaux canales 频道 チャンネル चैनल
group: gruppe gruppen groupe groupes grupo grupos 组 群组 小组 グループ समूह ग्रुप
team: team équipe équipes equipo equipos 团队 チーム टीम
project: projekt projekte projet projets proyecto proyectos 项目 プロジェクト परियोजना प्रोजेक्ट
task: aufgabe aufgaben tâche tâches tarea tareas 任务 タスク कार्य काम टास्क
issue: fehler problem ticket tickets problème incidencia problema 问题 工单 問題 課題 समस्या
comment: kommentar kommentare commentaire commentaires comentario comentarios 评论 コメント टिप्पणी
file: datei dateien fichier fichiers archivo archivos fichero 文件 ファイル फ़ाइल फाइल
folder: ordner dossier dossiers carpeta carpetas 文件夹 フォルダ फ़ोल्डर फोल्डर
document: dokument dokumente document documents documento documentos 文档 文書 書類 दस्तावेज़ दस्तावेज
image: bild bilder foto fotos image images photo photos imagen imágenes 图片 图像 照片 画像 写真 चित्र तस्वीर फोटो
video: video videos vidéo vidéos vídeo 视频 動画 ビデオ वीडियो
song: lied lieder chanson chansons morceau canción canciones 歌曲 曲 楽曲 गाना गीत
playlist: wiedergabeliste playlist lista 播放列表 プレイリスト
album: album álbum 专辑 アルバム एल्बम
artist: künstler artiste artista 艺术家 歌手 アーティスト कलाकार
calendar: kalender calendrier calendario 日历 カレンダー कैलेंडर
event: termin termine veranstaltung ereignis événement événements évènement evento eventos cita 活动 事件 イベント 予定 घटना कार्यक्रम
meeting: besprechung sitzung meeting réunion réunions reunión reuniones 会议 会議 ミーティング बैठक मीटिंग
date: datum date fecha 日期 日付 तारीख
address: adresse adressen adresses dirección direcciones 地址 住所 アドレス पता
phone: telefon telefonnummer handynummer téléphone teléfono 电话 手机 電話 फोन फ़ोन
password: passwort mot contraseña 密码 パスワード पासवर्ड
permission: zugriff accès acceso berechtigung berechtigungen recht rechte autorisation droits permiso permisos 权限 権限 अनुमति
role: rolle rollen rôle rôles rol roles 角色 役割 ロール भूमिका
setting: einstellung einstellungen paramètre paramètres réglages ajuste ajustes configuración 设置 配置 設定 सेटिंग
report: bericht berichte rapport rapports informe informes reporte 报告 报表 レポート 報告 रिपोर्ट
statistic: statistik statistiken statistiques estadísticas 统计 統計 आंकड़े
weather: wetter météo tiempo clima 天气 天気 मौसम
forecast: vorhersage wettervorhersage prévision prévisions pronóstico 预报 予報 पूर्वानुमान
temperature: temperatur température temperatura 温度 気温 तापमान
air: luft luftqualität air aire 空气 空気 大気 हवा वायु
rain: regen pluie lluvia 下雨 降雨 雨 बारिश
city: stadt ville ciudad 城市 都市 शहर
country: land pays país 国家 国 देश
map: karte carte mapa 地图 地図 नक्शा
route: strecke weg itinéraire trajet ruta camino 路线 経路 ルート रास्ता मार्ग
distance: entfernung distancia 距离 距離 दूरी
flight: flug flüge vol vols vuelo vuelos 航班 フライト उड़ान
hotel: hotel hôtel hotels 酒店 ホテル होटल
train: zug train tren 火车 電車 ट्रेन
package: paket pakete sendung colis paquet paquete envío 包裹 荷物 小包 पैकेज पार्सल
shipment: versand lieferung expédition livraison entrega 发货 运输 配送 出荷 शिपमेंट डिलीवरी
label: etikett versandetikett étiquette etiqueta 标签 ラベル लेबल
recipe: rezept rezepte recette recettes receta recetas 食谱 菜谱 レシピ रेसिपी व्यंजन
food: essen nourriture comida 食物 食べ物 खाना
ingredient: zutat zutaten ingrédient ingrédients ingrediente ingredientes 配料 食材 材料 सामग्री
course: kurs kurse cours curso cursos 课程 コース 講座 पाठ्यक्रम कोर्स
student: schüler student étudiant élève estudiante alumno 学生 生徒 छात्र विद्यार्थी
teacher: lehrer professeur enseignant profesor maestro 老师 教师 先生 教師 शिक्षक
class: klasse unterricht classe clase 班级 クラス कक्षा
patient: patient patienten patiente paciente pacientes 患者 病人 患者 मरीज रोगी
doctor: arzt ärztin médecin docteur médico 医生 医師 डॉक्टर
appointment: termin arzttermin rendez-vous cita 预约 予約 अपॉइंटमेंट
game: spiel spiele jeu jeux juego juegos partido 游戏 比赛 ゲーム 試合 खेल गेम
player: spieler joueur jugador 球员 玩家 選手 プレイヤー खिलाड़ी
score: ergebnis ergebnisse score résultat resultado marcador 比分 得分 スコア अंक स्कोर
device: gerät geräte appareil dispositivo dispositivos 设备 デバイス 機器 उपकरण डिवाइस
server: server serveur servidor 服务器 サーバー सर्वर
database: datenbank données datos 数据库 データベース डेटाबेस
domain: domain domäne domaine dominio 域名 ドメイン डोमेन
backup: sicherung sauvegarde respaldo copia 备份 バックアップ बैकअप
container: container conteneur contenedor 容器 コンテナ कंटेनर
repository: repository dépôt repositorio 仓库 リポジトリ रिपॉजिटरी
branch: zweig branche rama 分支 ブランチ शाखा
build: build compilation compilación 构建 ビルド
log: protokoll journal journaux registro registros 日志 ログ लॉग
alert: alarm warnung alerte alerta 警报 告警 アラート अलर्ट
incident: vorfall störung incident incidente 事件 事故 インシデント घटना
contract: vertrag verträge contrat contrato 合同 契約 अनुबंध
signature: unterschrift signature firma 签名 署名 हस्ताक्षर
card: karte karten carte cartes tarjeta tarjetas 卡片 卡 カード कार्ड
board: brett tableau tablero 看板 ボード बोर्ड
list: liste listen listes listas 列表 リスト सूची
newsletter: newsletter rundbrief infolettre boletín 简报 ニュースレター न्यूज़लेटर
campaign: kampagne campagne campaña 活动 キャンペーン अभियान
contact: kontakt kontakte contact contacto contactos 联系人 連絡先 संपर्क
coupon: gutschein rabatt bon réduction cupón descuento 优惠券 折扣 クーポン कूपन
store: laden geschäft shop magasin boutique tienda 商店 店铺 店舗 ストア दुकान
cart: warenkorb panier carrito 购物车 カート कार्ट
salary: gehalt lohn salaire paie salario nómina sueldo 工资 薪水 給与 给料 वेतन
vacation: urlaub congé vacances vacaciones 休假 假期 休暇 छुट्टी
law: gesetz loi ley 法律 法案 法律 कानून
election: wahl wahlen élection elección 选举 選挙 चुनाव
candidate: kandidat candidat candidato 候选人 候補者 उम्मीदवार
number: nummer anzahl zahl numéro nombre número 号码 数量 番号 数 संख्या नंबर
name: name namen nom nombre 名称 名字 名前 नाम
status: status stand état statut estado 状态 状態 ステータス स्थिति
history: verlauf historie historique historial 历史 履歴 इतिहास
version: version versión 版本 バージョン संस्करण
link: link lien enlace 链接 リンク लिंक
language: sprache langue idioma 语言 言語 भाषा
today: heute aujourd'hui hoy 今天 今日 आज
month: monat mois mes 月 今月 महीने
week: woche semaine semana 周 今週 सप्ताह हफ्ते
text: text texte texto 文本 テキスト टेक्स्ट
code: code código 代码 コード कोड
data: daten données datos 数据 データ डेटा
notification: benachrichtigung notification notificación 通知 通知 सूचना
template: vorlage modèle plantilla 模板 テンプレート टेम्पलेट
location: ort standort lieu emplacement lugar ubicación 位置 地点 場所 स्थान
station: bahnhof haltestelle gare station estación 车站 駅 स्टेशन
stock: aktie aktien lager action bourse stock acción acciones 股票 库存 株 在庫 शेयर स्टॉक
currency: währung devise moneda divisa 货币 通貨 मुद्रा
key: schlüssel clé llave clave 密钥 キー कुंजी
merge: zusammenführen fusionner fusionar 合并 マージ मर्ज
course: vorlesung
homework: hausaufgabe hausaufgaben devoirs deberes 作业 宿題 गृहकार्य
quote: angebot angebote devis oferta presupuesto 报价 見積
region: regionen région région regiones 地区 地域 क्षेत्र
machine: maschine maschinen máquina 机器 マシン मशीन
vulnerability: schwachstelle schwachstellen vulnérabilité vulnerabilidad 漏洞 脆弱
envelope: umschlag umschläge enveloppe sobre 信封 封筒 लिफाफा
symptom: symptome symptôme síntoma síntomas 症状 症状 लक्षण
money: geld argent dinero 钱 お金 पैसा पैसे
debt: schulden schuldet dette deuda 欠款 借金 कर्ज
teach: unterrichtet enseigne enseña 教 教えて
network: netzwerk netz réseau red 网络 ネットワーク नेटवर्क
line: linie ligne línea 线路 路線 लाइन
bus: bus autobús autobus 公交 バス बस
event: veranstaltungen
fine: strafe amende multa 罚款 罰金
recurring: dauerauftrag daueraufträge récurrent recurrente 定期 定期 आवर्ती
average: durchschnitt moyenne promedio 平均 平均 औसत
limit: grenze limite límite 限制 制限 सीमा
person: person personen leute personne gens persona personas 人员 人 लोग व्यक्ति
question: frage fragen question pregunta preguntas 问题 質問 प्रश्न सवाल
answer: antwort antworten réponse respuesta respuestas 回答 回答 उत्तर जवाब
reply: antworte répondre responde responder 回复 返信
convert: umwandeln umrechnen convertir convierte 转换 変換 बदल
lock: abschließen verrouiller bloquear 锁定 ロック
light: licht lampe lumière luz 灯 ライト बत्ती
water: wasser eau agua 水 水 पानी
wind: wind vent viento 风 風 हवा
`;
