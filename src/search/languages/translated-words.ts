/** Further nouns and adjectives of requests in other languages, by English word: German, French, Spanish, Chinese, Japanese and Hindi. */
export const WORDS = `
website: webseite website seite site web sitio página 网站 网页 ウェブサイト サイト वेबसाइट
page: seite seiten pages página páginas 页面 页 ページ पेज पृष्ठ पन्ना पन्ने
title: titel überschrift titre titres título títulos 标题 题目 タイトル 題名 शीर्षक
description: beschreibung description descripción 描述 说明 説明 विवरण
tag: schlagwort schlagwörter étiquette étiquettes etiqueta etiquetas 标签 タグ टैग
table: tabelle tabellen tableau tableaux tabla tablas 表格 数据表 テーブル तालिका
row: zeile zeilen ligne lignes fila filas पंक्ति
column: spalte spalten colonne colonnes columna columnas 列名 カラム 列を कॉलम स्तंभ
spreadsheet: kalkulationstabelle tabellenblatt tableur feuille hoja cálculo 电子表格 スプレッドシート स्प्रेडशीट
error: fehler fehlermeldung erreur erreurs errores fallo fallos 错误 报错 エラー 誤り त्रुटि गलती
metric: kennzahl kennzahlen messwerte métrique métriques métrica métricas 指标 メトリクス 指標 मेट्रिक
usage: nutzung verbrauch verwendung utilisation consommation uso consumo 使用情况 用量 使用量 利用状況 उपयोग खपत
cost: kosten coût coûts frais costo costos coste costes 成本 费用 コスト 費用 लागत खर्च
discount: rabatt rabatte nachlass ermäßigung remise réduction descuento descuentos rebaja 折扣 优惠 割引 छूट
receipt: beleg belege quittung kassenbon reçu reçus recibo recibos justificante 收据 小票 領収書 レシート रसीद
credit: guthaben gutschrift kredit crédit avoir crédito 信用 额度 クレジット 与信 क्रेडिट उधार
company: firma unternehmen betrieb entreprise entreprises société empresa empresas compañía 公司 企业 会社 企業 कंपनी
organization: organisation organisationen organización organizaciones 组织 机构 組織 団体 संगठन संस्था
department: abteilung abteilungen département service departamento departamentos 部门 部署 部門 विभाग
office: büro büros oficina oficinas 办公室 オフィス 事務所 कार्यालय दफ्तर
owner: besitzer eigentümer inhaber propriétaire propietario dueño 所有者 拥有者 オーナー मालिक
administrator: administratorin verwalter administrateur administrador 管理员 管理者 व्यवस्थापक एडमिन
session: sitzung sitzungen séance sesión sesiones 会话 セッション सत्र
certificate: zertifikat zertifikate certificat certificats certificado certificados 证书 証明書 प्रमाणपत्र
policy: richtlinie richtlinien politique politiques stratégie política políticas directiva 政策 策略 ポリシー 方針 नीति
rule: regel regeln règle règles regla reglas 规则 ルール 規則 नियम
condition: bedingung bedingungen zustand conditions condición condiciones 条件 状況 शर्त
workflow: arbeitsablauf ablauf flux flujo 工作流 流程 ワークフロー कार्यप्रवाह
job: auftrag aufträge stelle stellen emploi tâche trabajo trabajos empleo 作业 工作 ジョブ 仕事 求人 नौकरी काम
queue: warteschlange file attente cola 队列 キュー 待ち行列 कतार
reminder: erinnerung erinnerungen rappel rappels recordatorio recordatorios 提醒 リマインダー रिमाइंडर अनुस्मारक
deadline: frist fristen fällig fälligkeit échéance échéances vencimiento plazo 截止 期限 締め切り 締切 समयसीमा
time: zeit uhrzeit zeiten heure temps hora tiempo 时间 時間 時刻 समय
hour: stunde stunden heures horas stündlich horaire 小时 時間 毎時 घंटा घंटे
minute: minuten minutos 分钟 分間 मिनट
year: jahr jahre jährlich année années año años 年 年度 年間 साल वर्ष
yesterday: gestern hier ayer 昨天 昨日 कल
tomorrow: morgen demain mañana 明天 明日 कल
last: letzte letzten letzter letztes letzter dernier dernière derniers dernières último última últimos últimas 最近 最后 上次 最新 最後 前回 先週 先月 पिछला पिछले पिछली आखिरी आख़िरी
next: nächste nächsten nächster nächstes prochain prochaine prochains próximo próxima próximos siguiente 下一个 下次 下周 次の 次回 अगला अगले अगली
previous: vorherige vorherigen frühere précédent précédente précédents anterior anteriores previo 上一个 之前 以前 前の पिछला
current: aktuelle aktuellen aktueller aktuelles derzeit momentan actuel actuelle actuels actuelles actual actuales 当前 目前 现在 現在 今の वर्तमान मौजूदा अभी
old: alte alten altes ancien ancienne anciens vieux viejo vieja viejos antiguo 旧 老的 古い पुराना पुराने पुरानी
active: aktive aktiven aktiver actif actifs active actives activo activos activa activas 活跃 有效 アクティブ 有効な सक्रिय
unpaid: unbezahlt unbezahlte unbezahlten offene impayé impayée impayés impayées impagada impagadas impago 未付 未支付 未払い 未入金 अवैतनिक बकाया
overdue: überfällig überfällige überfälligen retard vencida vencidas vencido atrasado 逾期 过期 期限切れ 延滞 अतिदेय
available: verfügbar verfügbare verfügbaren frei disponible disponibles libre libres 可用 空闲 利用可能 空き उपलब्ध
public: öffentlich öffentliche öffentlichen publique publics público pública 公开 公共 公開 公共 सार्वजनिक
private: privat private privé privée privado privada 私有 私人 非公開 プライベート निजी
failed: fehlgeschlagen fehlgeschlagene gescheitert échoué échouée échoués fallido fallida fallidos 失败 失敗 विफल असफल
popular: beliebt beliebte beliebteste beliebtesten populaire populaires populares 热门 流行 人気 लोकप्रिय
similar: ähnlich ähnliche ähnlichen similaire similaires semblable parecido parecidos similares 类似 相似 似た 類似 समान मिलता
nearby: nähe nahegelegene umgebung proximité proche proches cerca cercano cercanos 附近 周边 近く 周辺 पास नज़दीक
detail: einzelheiten détail détails detalle detalles 详情 详细 明细 詳細 विवरण जानकारी
information: informationen infos renseignements informations información 信息 资料 情報 जानकारी सूचना
summary: zusammenfassung übersicht résumé aperçu resumen 摘要 概要 汇总 概要 要約 サマリー सारांश
total: gesamt gesamte insgesamt summe somme suma totales 总数 总额 合计 合計 総数 कुल
amount: betrag beträge menge montant montants quantité importe monto cantidad 金额 数量 金額 राशि रकम
size: größe grössen taille tailles tamaño tamaños 大小 尺寸 サイズ 大きさ आकार
color: farbe farben couleur couleurs colores 颜色 カラー रंग
format: formate formato formatos 格式 形式 フォーマット प्रारूप
type: typ typen arten sorte types tipo tipos 类型 种类 種類 タイプ प्रकार
brand: marken marque marques 品牌 ブランド ब्रांड
screenshot: bildschirmfoto capture écran captura pantalla 截图 截屏 スクリーンショット स्क्रीनशॉट
camera: kamera kameras caméra caméras cámara cámaras 相机 摄像头 カメラ कैमरा
audio: ton klang sonido 音频 声音 音声 オーディオ ऑडियो आवाज
recording: aufnahme aufnahmen aufzeichnung aufzeichnungen enregistrement enregistrements grabación grabaciones 录音 录像 录制 録音 録画 रिकॉर्डिंग
subtitle: untertitel sous-titre sous-titres subtítulo subtítulos 字幕 उपशीर्षक सबटाइटल
movie: filme films película películas 电影 影片 映画 फिल्म फ़िल्म
series: serie serien série séries 剧集 系列 シリーズ ドラマ शृंखला धारावाहिक
episode: folge folgen épisode épisodes episodio episodios capítulo 一集 エピソード एपिसोड
follower: abonnenten abonné abonnés seguidor seguidores 粉丝 关注者 フォロワー अनुयायी फॉलोअर
friend: freund freunde freundin ami amis amie amigo amigos amiga 朋友 好友 友達 友人 दोस्त मित्र
post: beitrag beiträge publication publications publicación publicaciones 帖子 动态 投稿 पोस्ट
article: artikel beiträge artículo artículos 文章 记事 記事 लेख
news: nachrichten neuigkeiten actualités nouvelles noticias noticia 新闻 ニュース समाचार खबर ख़बर
book: buch bücher livre livres libro libros 图书 书籍 書籍 किताब पुस्तक किताबें
author: autor autoren autorin auteur auteurs autores 作者 著者 作家 लेखक
library: bibliothek bibliotheken bibliothèque biblioteca bibliotecas 图书馆 図書館 ライブラリ पुस्तकालय लाइब्रेरी
conversation: unterhaltung gespräch konversation discussion conversación conversaciones charla 对话 会话 聊天 会話 チャット बातचीत चैट
inbox: posteingang boîte réception bandeja entrada 收件箱 受信箱 受信トレイ इनबॉक्स
attachment: anhang anhänge pièce jointe jointes adjunto adjuntos 附件 添付ファイル अनुलग्नक अटैचमेंट
draft: entwurf entwürfe brouillon brouillons borrador borradores 草稿 下書き ड्राफ्ट मसौदा
place: orte lieu lieux endroit lugar lugares sitio 地点 地方 場所 जगह स्थान
coordinates: koordinaten breitengrad längengrad coordonnées coordenadas latitud longitud 坐标 经纬度 座標 緯度 経度 निर्देशांक
restaurant: restaurants gaststätte restaurantes 餐厅 饭店 レストラン रेस्तरां रेस्टोरेंट
airport: flughafen flughäfen aéroport aéroports aeropuerto aeropuertos 机场 空港 हवाई हवाईअड्डा
reservation: reservierung buchung buchungen reservierungen réservation réservations reserva reservas reservación 预订 预约 予約 आरक्षण बुकिंग
passenger: fahrgast passagiere passagier passager passagers pasajero pasajeros 乘客 旅客 乗客 यात्री
vehicle: fahrzeug fahrzeuge auto autos véhicule véhicules voiture voitures vehículo vehículos coche coches 车辆 汽车 車両 वाहन गाड़ी
driver: fahrer fahrerin conducteur chauffeur conductor conductores 司机 驾驶员 ドライバー 運転手 चालक ड्राइवर
bike: fahrrad fahrräder rad vélo vélos bicicleta bicicletas bici 自行车 单车 自転車 साइकिल
traffic: verkehr trafic circulation tráfico 交通 流量 渋滞 トラフィック यातायात ट्रैफिक
parking: parkplatz parkplätze stationnement estacionamiento aparcamiento 停车 停车场 駐車 駐車場 पार्किंग
energy: energie strom stromverbrauch énergie électricité energía electricidad 能源 电力 エネルギー 電力 ऊर्जा बिजली
battery: akku batterie akkustand pile batería 电池 电量 バッテリー 電池 बैटरी
humidity: luftfeuchtigkeit feuchtigkeit humidité humedad 湿度 आर्द्रता नमी
health: gesundheit santé salud 健康 健康状況 स्वास्थ्य
medicine: medikament medikamente arznei médicament médicaments medicamento medicamentos medicina 药 药物 药品 薬 दवा दवाई दवाएं
insurance: versicherung versicherungen assurance assurances seguro seguros 保险 保険 बीमा
hospital: krankenhaus klinik hôpital hôpitaux clinique hospitales clínica 医院 病院 अस्पताल
nutrition: nährwerte kalorien nährwert calories valeurs nutritionnelles calorías nutrición 营养 卡路里 栄養 カロリー पोषण कैलोरी
match: spiele begegnung partie partido partidos encuentro 比赛 赛事 試合 मैच मुकाबला
tournament: turnier turniere tournoi tournois torneo torneos 锦标赛 联赛 大会 トーナメント टूर्नामेंट प्रतियोगिता
league: liga ligen ligue ligues 联盟 联赛 リーグ लीग
season: saison saisons temporada temporadas 赛季 季节 シーズン 季節 सीज़न मौसम
ranking: rangliste tabelle platzierung classement clasificación 排名 排行榜 ランキング 順位 रैंकिंग
applicant: bewerber bewerbung bewerbungen candidat candidature candidatures candidato solicitud solicitante 申请人 应聘者 応募者 आवेदक आवेदन
interview: vorstellungsgespräch entretien entretiens entrevista entrevistas 面试 面接 インタビュー साक्षात्कार
expense: ausgabe ausgaben spesen dépense dépenses gasto gastos 支出 报销 経費 支出 व्यय खर्चा
revenue: umsatz umsätze einnahmen revenus recettes ingresos facturación 收入 营收 売上 収益 आय राजस्व
sale: verkauf verkäufe vente ventes venta ventas 销售 促销 販売 セール बिक्री
opportunity: verkaufschance verkaufschancen chance opportunité opportunités oportunidad oportunidades 商机 机会 商談 案件 अवसर
supplier: lieferant lieferanten fournisseur fournisseurs proveedor proveedores 供应商 仕入先 サプライヤー आपूर्तिकर्ता
warehouse: lager lagerhaus entrepôt entrepôts almacén almacenes bodega 仓库 倉庫 गोदाम
inventory: lagerbestand bestand bestände inventaire inventario existencias 库存 盘点 在庫 棚卸 इन्वेंटरी
return: retoure rücksendung retouren retour retours devolución devoluciones 退货 返品 वापसी
delivery: lieferung lieferungen zustellung livraison livraisons entrega entregas reparto 配送 送货 配達 納品 डिलीवरी
carrier: spediteur versanddienstleister paketdienst transporteur transporteurs transportista mensajería 承运商 快递 运输公司 運送会社 配送業者 वाहक कूरियर
weight: gewicht gewichte poids peso 重量 体重 重さ वजन वज़न
auction: auktion auktionen versteigerung enchère enchères subasta subastas 拍卖 オークション नीलामी
advertisement: anzeige anzeigen werbung publicité publicités annonce anuncio anuncios publicidad 广告 広告 विज्ञापन
survey: umfrage umfragen sondage sondages enquête encuesta encuestas 调查 问卷 アンケート 調査 सर्वेक्षण
form: formular formulare formulaire formulaires formulario formularios 表单 フォーム फॉर्म फ़ॉर्म
government: regierung behörde gouvernement gobierno 政府 政府机构 सरकार
dashboard: übersichtsseite tableau bord tablero panel paneles 仪表盘 看板 ダッシュボード डैशबोर्ड
chart: diagramm diagramme graphique graphiques gráfico gráfica gráficos 图表 グラフ चार्ट ग्राफ
memory: speicher arbeitsspeicher mémoire memoria 内存 メモリ मेमोरी
disk: festplatte festplatten disque disques disco discos 磁盘 硬盘 ディスク डिस्क
firewall: brandmauer pare-feu cortafuegos 防火墙 ファイアウォール फ़ायरवॉल
cluster: clústeres grappe 集群 クラスター क्लस्टर
instance: instanz instanzen instancia instancias 实例 インスタンス इंस्टेंस
environment: umgebung umgebungen environnement environnements entorno entornos 环境 環境 वातावरण
variable: variablen variables 变量 変数 चर
commit: 提交 コミット कमिट
release: veröffentlichung freigabe lanzamiento 发布版 版本发布 リリース रिलीज़
webhook: 网络钩子 ウェブフック वेबहुक
function: funktion funktionen fonction fonctions función funciones 函数 功能 関数 機能 फ़ंक्शन
security: sicherheit sécurité seguridad 安全 セキュリティ सुरक्षा
guest: gast gäste invité invités huésped invitado invitados 客人 来宾 ゲスト मेहमान अतिथि
room: zimmer raum räume zimmern salle salles chambre chambres habitación habitaciones sala salas 房间 会议室 部屋 ルーム कमरा कमरे
household: haushalt foyer hogar 家庭 世帯 परिवार
family: familie famille familia 家庭 家人 家族 परिवार
child: kind kinder enfant enfants niño niños hijo hijos 孩子 儿童 子供 子ども बच्चा बच्चे
school: schule schulen école écoles escuela escuelas colegio 学校 学校の विद्यालय स्कूल
grade: noten notes nota notas calificación calificaciones 成绩 分数 成績 ग्रेड अंक
exam: prüfung prüfungen klausur examen examens exámenes 考试 試験 परीक्षा
street: straße straßen strasse rue rues calle calles 街道 通り सड़क गली
postcode: postleitzahl plz code postal 邮编 郵便番号 पिनकोड
wave: welle wellen wellenhöhe vague vagues houle ola olas oleaje 海浪 波 波浪 लहर लहरें
snow: schnee schneefall neige nieve nevada 雪 下雪 降雪 积雪 बर्फ
storm: sturm unwetter gewitter tempête orage tormenta tormentas 风暴 暴风雨 嵐 雷雨 तूफान तूफ़ान
sunrise: sonnenaufgang sonnenuntergang lever coucher soleil amanecer atardecer 日出 日落 日の出 日の入り सूर्योदय सूर्यास्त
animal: tier tiere haustier animaux animales mascota 动物 宠物 動物 ペット जानवर पालतू
plant: pflanze pflanzen plante plantes planta plantas 植物 पौधा पौधे
drink: getränk getränke boisson boissons bebida bebidas 饮料 饮品 飲み物 ドリンク पेय
wine: wein weine vin vins vino vinos 葡萄酒 红酒 ワイン शराब
concert: konzert konzerte concerts concierto conciertos 演唱会 音乐会 コンサート ライブ संगीत
lyrics: liedtext songtext paroles letras 歌词 歌詞 बोल
license: lizenz lizenzen licence licences licencia licencias 许可证 执照 ライセンス 免許 लाइसेंस
patent: patente brevet brevets 专利 特許 पेटेंट
court: gericht gerichte tribunal tribunaux tribunales juzgado 法院 法庭 裁判所 अदालत न्यायालय
police: polizei policía 警察 पुलिस
dataset: datensatz datensätze jeu données conjunto datos 数据集 データセット डेटासेट
model: modell modelle modèle modèles modelo modelos 模型 型号 モデル मॉडल
experiment: experimente versuch expérience expérimentation experimento 实验 実験 प्रयोग
zone: zonen zona zonas 区域 地带 ゾーン क्षेत्र
node: knoten nœud nœuds nodo nodos 节点 ノード नोड
dependency: abhängigkeit abhängigkeiten dépendance dépendances dependencia dependencias 依赖 依存 निर्भरता
path: pfad pfade chemin chemins ruta rutas 路径 パス पथ
script: skript skripte scripts guion 脚本 スクリプト स्क्रिप्ट
profit: gewinn gewinne bénéfice bénéfices ganancia ganancias beneficio 利润 盈利 利益 मुनाफा लाभ
loss: verlust verluste perte pertes pérdida pérdidas 亏损 损失 損失 नुकसान हानि
pension: rente renten altersvorsorge retraite jubilación pensión pensiones 养老金 退休金 年金 पेंशन
payslip: gehaltsabrechnung lohnabrechnung gehaltszettel fiche paie bulletin nómina nóminas 工资单 給与明細 वेतनपर्ची
timesheet: arbeitszeit arbeitszeiten stundenzettel zeiterfassung pointage feuille temps horas jornada fichaje 工时 考勤 勤務時間 勤怠 समयपत्रक
shift: schicht schichten dienstplan poste équipe turno turnos 班次 排班 シフト पाली शिफ्ट
trip: reise reisen fahrt fahrten voyage voyages trajet trajets viaje viajes 旅行 行程 出差 旅行の 出張 यात्रा सफर
cheap: günstig günstige günstigste billig billigste cher moins barato baratos barata económico 便宜 最便宜 安い 最安 सस्ता सस्ते सस्ती
free: kostenlos kostenlose gratis gratuit gratuite gratuits gratuito gratuitos 免费 無料 मुफ्त मुफ़्त
big: groß große großen größte grand grande grands gros grandes mayor 大的 最大 大きい 大きな बड़ा बड़े बड़ी
first: erste ersten erster erstes premier première premiers primer primera primeros 第一 首个 最初 最初の 初回 पहला पहले पहली
empty: leer leere leeren vide vides vacío vacía vacíos 空的 空の 空っぽ खाली
expired: abgelaufen abgelaufene abgelaufenen expiré expirée expirés expirado expirada caducado caducada 已过期 失效 期限切れの समाप्त एक्सपायर
pending: ausstehend ausstehende wartend wartende attente pendiente pendientes 待处理 待定 未处理 保留中 未処理 लंबित
hidden: versteckt versteckte caché cachés oculto ocultos oculta 隐藏的 隠れた छिपे
duplicate: doppelt doppelte duplikate doublon doublons duplicado duplicados 重复 重複 दोहरा
daily: täglich tägliche quotidien quotidienne quotidiens diario diaria diarios 每天 每日 毎日 日次 रोज़ दैनिक
weekly: wöchentlich wöchentliche hebdomadaire semanal semanales 每周 毎週 週次 साप्ताहिक
monthly: monatlich monatliche monatlichen mensuel mensuelle mensuels mensual mensuales 每月 月度 毎月 月次 मासिक
world: welt weltweit monde mundo 世界 全球 दुनिया विश्व
price: preise tarif tarifs precios tarifa tarifas 售价 定价 料金 दाम
phone: handy mobiltelefon portable móvil celular 手机 携帯 मोबाइल
computer: rechner ordinateur ordinateurs ordenador ordenadores computadora 电脑 计算机 パソコン コンピュータ कंप्यूटर लैपटॉप
printer: drucker imprimante impresora 打印机 プリンタ プリンター प्रिंटर
process: prozess prozesse processus proceso procesos 进程 流程 プロセス प्रक्रिया
command: befehl befehle commande commandes comando comandos 命令 コマンド कमांड आदेश
word: wort wörter mot mots palabra palabras 单词 词语 単語 言葉 शब्द
sentence: satz sätze phrases frase frases oración 句子 文章 वाक्य
`;
