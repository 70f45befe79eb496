/** Verbs of requests in other languages, by English word: German, French, Spanish, Chinese, Japanese and Hindi. */
export const VERBS = `
create: erstelle erstellen anlegen lege erzeuge neue neuen neues crée créer créez nouvelle nouveau ajoute crea crear cree nueva nuevo 创建 新建 建立 作成 作って 作る 新規 बनाओ बनाना बनाएं बनाइए नया नई
add: hinzufügen füge ajouter ajoute añade añadir agrega agregar 添加 增加 加入 追加 जोड़ो जोड़ना जोड़ें जोड़
delete: lösche löschen entferne entfernen supprime supprimer efface enlève retire elimina eliminar borra borrar quita 删除 删掉 移除 去掉 削除 消して हटाओ हटाना हटाएं हटा डिलीट मिटा
update: ändere ändern aktualisiere aktualisieren bearbeiten modifie modifier changer change actualiza actualizar cambia cambiar modifica editar 更新 修改 更改 编辑 变更 変更 編集 बदलो बदलना बदलें बदल अपडेट
get: hole abrufen bekomme obtenir récupère récupérer obtener obtén consultar 获取 得到 取得 प्राप्त लाओ
show: anzeige zeige zeig anzeigen ansehen sehen montre montrer affiche afficher voir muestra mostrar muéstrame ver enséñame 显示 查看 看看 看一下 表示 見せて 見たい 確認 दिखाओ दिखाएं दिखा देखना
list: liste auflisten alle alles lister toutes tous listar lista todos todas 列出 列表 所有 全部 一覧 すべて 全て सूची सभी सारे
search: suche suchen finde finden cherche chercher recherche trouve trouver busca buscar encuentra encontrar 搜索 查找 查询 寻找 検索 探して 探す खोजो खोजना खोजें खोज ढूंढ
send: senden sende senden schicke schicken verschicken envoie envoyer envía enviar manda mandar 发送 发给 寄送 送信 送って 送る भेजो भेजना भेजें भेज
cancel: abbrechen storniere stornieren abbrechen absagen kündige kündigen annule annuler résilier cancela cancelar anular 取消 キャンセル 取り消 रद्द
start: starte starten beginne beginnen démarre démarrer lance lancer inicia iniciar arranca empezar 启动 开始 開始 起動 शुरू
stop: stoppe stoppen anhalten beenden arrête arrêter detén detener parar 停止 停下 停止 रोको रोकना बंद
upload: hochladen lade téléverse téléverser importer sube subir cargar 上传 アップロード अपलोड
download: herunterladen télécharge télécharger descarga descargar bajar 下载 ダウンロード डाउनलोड
export: exportiere exportieren exporte exporter exporta exportar 导出 エクスポート निर्यात
copy: kopiere kopieren copie copier copia copiar duplicar 复制 コピー 複製 कॉपी
move: schieben schiebe verschiebe verschieben déplace déplacer mueve mover 移动 移到 移動 ले
check: prüfe prüfen überprüfen vérifie vérifier comprueba comprobar verifica verificar 检查 验证 チェック 検証 जांच जाँच
approve: genehmige genehmigen freigeben approuve approuver aprueba aprobar 批准 审批 承認 स्वीकृत मंजूर
reject: ablehnen refuse refuser rechaza rechazar 拒绝 拒否 अस्वीकार
assign: zuweisen weise assigne assigner attribuer asigna asignar 分配 指派 割り当て सौंप
invite: einladen lade invite inviter invita invitar 邀请 招待 आमंत्रित
pay: bezahle bezahlen zahlen paie payer paga pagar 支付 付款 支払 भुगतान
refund: erstatte erstatten rückerstattung erstattung rembourse rembourser remboursement reembolsa reembolsar reembolso devolver 退款 返金 払い戻 रिफंड वापस
book: buche buchen reservieren réserve réserver reserva reservar 预订 预定 予約 बुक
schedule: plane planen terminplan planifie planifier programa programar horario 安排 计划 予定 スケジュール समय
share: teile teilen partage partager comparte compartir 分享 共享 共有 साझा शेयर
publish: veröffentliche veröffentlichen publie publier publica publicar 发布 公開 प्रकाशित
close: schließe schließen ferme fermer cierra cerrar 关闭 閉じ बंद
open: öffne öffnen offene ouvre ouvrir ouverts abre abrir abiertos 打开 開く खोल खुले
block: sperre sperren blockieren bloque bloquer bloquea bloquear 封禁 屏蔽 ブロック ब्लॉक
rename: umbenennen renomme renommer renombra renombrar 重命名 改名 名前を変
restore: wiederherstellen restaure restaurer restaura restaurar recuperar 恢复 还原 復元 पुनर्स्थापित
restart: neu neustart neustarten redémarre redémarrer reinicia reiniciar 重启 再起動 रीस्टार्ट
enable: aktiviere aktivieren einschalten active activer activa activar habilitar 启用 开启 有効 सक्रिय चालू
disable: deaktiviere deaktivieren ausschalten désactive désactiver desactiva desactivar 禁用 停用 無効 निष्क्रिय
compare: vergleiche vergleichen compare comparer compara comparar 比较 比較 तुलना
calculate: berechne berechnen calcule calculer calcula calcular 计算 計算 गणना
subscribe: abonniere abonnieren abonner suscribir suscríbete 订阅 登録 सदस्यता
save: speichere speichern sichern sichere enregistre enregistrer sauvegarde sauvegarder guarda guardar guárdame 保存 储存 存储 保存して सेव सहेजो सहेजें सहेज
replace: ersetze ersetzen austauschen remplace remplacer reemplaza reemplazar sustituye sustituir 替换 更换 置き換え 差し替え 交換 बदलकर
set: setze setzen festlegen einstellen définis définir règle régler establece establecer fija fijar define definir 设置 设定 設定 तय सेट
receive: empfangen erhalten empfange reçois recevoir reçu recibe recibir recibidos 接收 收到 受け取 受信 मिला मिले पाना
sign: unterschreibe unterschreiben unterzeichnen signieren signe signer firmar fírmame 签署 签字 签名 署名 हस्ताक्षर
filter: filtere filtern filtre filtrer filtra filtrar 筛选 过滤 絞り込 フィルタ फ़िल्टर फिल्टर
sort: sortiere sortieren trie trier ordena ordenar clasifica 排序 並べ替え 並び替え क्रम
count: zähle zählen anzahl wieviele compte compter combien cuenta contar cuántos cuántas 统计 多少 几个 数えて いくつ 何件 件数 कितने कितनी कितना गिनो गिनती
join: beitreten teilnehmen trete rejoindre rejoins únete unirse unirme 加入 参加 शामिल
leave: verlassen verlasse austreten quitte quitter salir abandonar 退出 离开 退会 退出 छोड़ो छोड़ना छोड़
connect: verbinde verbinden anschließen connecter connecte conecta conectar 连接 接続 つなぐ つないで कनेक्ट जोड़
login: anmelden einloggen melde connexion connecter iniciar sesión 登录 登陆 ログイン लॉगिन
logout: abmelden ausloggen déconnecte déconnecter déconnexion 登出 注销 退出登录 ログアウト लॉगआउट
reset: zurücksetzen setze réinitialise réinitialiser restablece restablecer reinicializar 重置 重设 リセット रीसेट
run: ausführen führe laufen exécute exécuter lancer ejecuta ejecutar correr 运行 执行 実行 चलाओ चलाएं चलाना चला
test: teste testen probiere tester prueba probar pruebas essai 测试 试一下 テスト 試す परीक्षण जाँचो
pause: pausiere pausieren unterbrechen mettre suspendre suspends pausa pausar suspende suspender 暂停 挂起 一時停止 中断 रोक विराम
resume: fortsetzen wiederaufnehmen setze reprends reprendre reanuda reanudar 恢复 继续 再開 続ける जारी
accept: annehmen akzeptiere akzeptieren accepte accepter acepta aceptar 接受 承認 受け入れ 受諾 स्वीकार
confirm: bestätige bestätigen confirme confirmer confirma confirmar 确认 確認 確定 पुष्टि
transfer: überweise überweisen übertrage übertragen überweisung vire virement transfère transférer transfiere transferir transferencia 转账 转移 转让 汇款 振込 送金 移転 ट्रांसफर हस्तांतरण
extract: extrahiere extrahieren auslesen extrais extraire extrae extraer 提取 抽取 抽出 取り出 निकालो निकालना निकालें निकाल
generate: generiere generieren génère générer genera generar 生成 生成して जनरेट
analyze: analysiere analysieren auswerten analyse analyser analiza analizar 分析 解析 分析して विश्लेषण
translate: übersetze übersetzen traduis traduire traduction traduce traducir traducción 翻译 訳して 翻訳 अनुवाद
summarize: fasse zusammenfassen résume résumer resume resumir 总结 概括 摘要 要約 まとめ सारांश संक्षेप
print: drucke drucken ausdrucken imprime imprimer imprimir 打印 印刷 プリント छापो प्रिंट
buy: kaufe kaufen erwerben achète acheter compra comprar 购买 买 購入 買う 買って खरीदो खरीदना खरीदें खरीद
sell: verkaufe verkaufen vends vendre vende vender 出售 卖 販売 売る बेचो बेचना बेचें
scan: scanne scannen durchsuchen scanner numériser escanea escanear 扫描 スキャン स्कैन
follow: folge folgen abonnieren suivre suis sigue seguir 关注 跟踪 フォロー फॉलो
play: spiele spielen abspielen joue jouer lire reproduce reproducir jugar 播放 再生 プレイ बजाओ चलाओ
record: aufnehmen aufzeichnen erfassen enregistrer enregistre graba grabar registra registrar 录制 记录 录音 記録 録画 録音 रिकॉर्ड दर्ज
verify: verifiziere verifizieren bestätigen vérifier verifica verificar 核实 验证 検証 認証 सत्यापित सत्यापन
install: installiere installieren installe installer instala instalar 安装 インストール इंस्टॉल
hide: verstecke verstecken ausblenden verbergen cache cacher masque masquer oculta ocultar esconder 隐藏 非表示 隠す 隠して छिपाओ छुपाओ
archive: archiviere archivieren archiver archiva archivar 归档 存档 アーカイブ संग्रहित आर्काइव
split: teilen aufteilen trennen teile divise diviser séparer divide dividir separar 拆分 分割 分ける विभाजित बांटो
attach: anhängen hänge beifügen joins joindre attache attacher adjunta adjuntar 附加 添付 संलग्न
withdraw: abheben auszahlen zurückziehen retire retirer retira retirar 提现 提款 撤回 引き出 出金 निकासी
deposit: einzahlen einzahlung dépose déposer dépôt deposita depositar depósito 存款 充值 入金 預け जमा
forward: weiterleiten leite transfère transférer reenvía reenviar 转发 転送 अग्रेषित
mark: markiere markieren kennzeichnen marque marquer marca marcar 标记 標記 マーク 印 चिह्नित निशान
rate: bewerte bewerten note noter évalue évaluer valora valorar califica calificar 评分 评价 打分 評価 रेटिंग
remind: erinnere erinnern rappelle rappeler recuérdame recordar recuerda 提醒 リマインド 思い出 याद
track: verfolge verfolgen nachverfolgen sendungsverfolgung suis suivre suivi rastrea rastrear seguimiento 跟踪 追踪 追跡 ट्रैक
monitor: überwache überwachen surveille surveiller surveillance monitorea supervisar vigilar 监控 监视 監視 モニター निगरानी
complete: abschließen erledigen erledigt beende termine terminer terminé completa completar terminar 完成 完了 終わらせ पूरा समाप्त
unlock: entsperre entsperren aufschließen déverrouille déverrouiller désbloquer desbloquea desbloquear 解锁 ロック解除 解除 अनलॉक
call: anrufen rufe anruf anrufe appelle appeler appel appels llama llamar llamada llamadas 打电话 呼叫 通话 电话 通話 電話 कॉल फोन
remove: entferne entfernen rausnehmen enlever enlève retire retirer quitar quita 移除 去除 取り除 外す 外して निकाल
register: registriere registrieren anmelden inscris inscrire enregistrer inscription registra registrar inscribir 注册 登记 登録 पंजीकरण रजिस्टर
request: beantrage beantragen anfordern anfrage demande demander solicita solicitar solicitud pedir 请求 申请 依頼 申請 リクエスト अनुरोध मांगो
edit: bearbeite bearbeiten éditer modifier edita editar 编辑 编辑一下 編集 संपादित एडिट
import: importiere importieren importer importa importar 导入 インポート 取り込 आयात
sync: synchronisiere synchronisieren abgleichen synchronise synchroniser sincroniza sincronizar 同步 同期 सिंक
watch: ansehen anschauen schauen regarde regarder mira mirar 观看 見る 観る देखो देखें
apply: anwenden wende bewerben applique appliquer aplica aplicar 应用 适用 適用 लागू
submit: einreichen abgeben reiche soumets soumettre envoyer presenta presentar entregar 提交 提出 जमा
duplicate: dupliziere duplizieren kopieren duplique dupliquer duplica duplicar 复制 複製 डुप्लिकेट
terminate: beenden kündigen terminieren résilie résilier terminar finalizar 终止 結束 終了 समाप्त
enroll: einschreiben anmelden inscrire inscris inscribe inscribir matricular 报名 入学 受講 नामांकन दाखिला
vote: abstimmen stimme wählen vota votar voter 投票 मतदान वोट
rotate: drehe drehen rotieren tourne tourner pivoter gira girar rota rotar 旋转 轮换 回転 घुमाओ घुमाएं घुमा
resize: skaliere skalieren vergrößern verkleinern redimensionne redimensionner agrandir réduire redimensiona redimensionar 调整大小 缩放 リサイズ サイズ変更 拡大 縮小 छोटा बड़ा
crop: zuschneiden beschneiden recadre recadrer rogner recorta recortar 裁剪 切り抜 トリミング काटो क्रॉप
compress: komprimiere komprimieren packen compresse compresser comprime comprimir 压缩 圧縮 कंप्रेस संपीड़ित
encrypt: verschlüssle verschlüsseln verschlüsselung chiffre chiffrer crypter cifra cifrar encriptar 加密 暗号化 एन्क्रिप्ट कूटबद्ध
decrypt: entschlüssle entschlüsseln déchiffre déchiffrer descifra descifrar desencriptar 解密 復号 डिक्रिप्ट
increase: erhöhe erhöhen vergrößern augmente augmenter aumenta aumentar subir 增加 提高 增大 増やす 増やして 上げ बढ़ाओ बढ़ाना बढ़ाएं
decrease: verringere verringern senken reduzieren diminue diminuer baisse baisser réduis reduce reducir disminuir bajar 减少 降低 減らす 減らして 下げ घटाओ कम
extend: verlängere verlängern erweitern prolonge prolonger étendre extiende extender prolongar ampliar 延长 扩展 延長 拡張 बढ़ा विस्तार
renew: erneuere erneuern verlängern renouvelle renouveler renueva renovar 续订 续费 更新 नवीनीकृत रिन्यू
suspend: aussetzen sperren suspendiere suspendieren suspends suspendre suspende suspender 暂停 停用 停止 निलंबित
hire: einstellen anstellen embauche embaucher recruter contrata contratar 雇用 聘用 招聘 雇う 採用 नियुक्त
mute: stummschalten stumm muet silencia silenciar 静音 禁言 ミュート म्यूट
pin: anheften pinne épingle épingler fija anclar 置顶 固定 ピン留め पिन
predict: vorhersagen prognostizieren vorhersage prédis prédire prévoir predice predecir 预测 予測 भविष्यवाणी
recommend: empfehle empfehlen empfehlung empfehlungen recommande recommander recommandations recomienda recomendar recomendaciones 推荐 おすすめ お勧め 推薦 सुझाव सिफारिश
collect: sammle sammeln einsammeln collecte collecter recueillir recoge recoger recopilar 收集 集める 収集 इकट्ठा
ship: versende versenden verschicken expédie expédier enviar despachar 发货 寄出 出荷 発送 शिप
deliver: liefere liefern zustellen livre livrer entrega entregar 交付 送达 配達して 届け पहुंचाओ
explain: erkläre erklären explique expliquer explica explicar 解释 说明 説明して समझाओ समझाएं
change: ändern ändere wechsle changer change cambia cambiar 更换 改成 换成 変えて 変える बदलो बदल
finish: beenden fertig abschließen finir finis terminer acaba acabar terminar 结束 完成 終える 終了 खत्म ख़त्म
keep: behalten behalte garde garder conserver conserva mantener 保留 保持 残す 残して रखो रखें
use: benutze benutzen verwenden utilise utiliser usa usar utiliza utilizar 使用 使う 使って उपयोग इस्तेमाल
measure: messe messen messung mesure mesurer mide medir 测量 測定 測る मापो माप
draw: zeichne zeichnen dessine dessiner dibuja dibujar 绘制 描く 描いて बनाकर
`;
