package features

import "strings"

// stopWords returns the words of a language that carry grammar, not topic: own
// lists, kept short on purpose, for a word left in costs a weight near zero, and
// a word left out can never be a feature.
func stopWords(lang string) map[string]bool {
	stop := map[string]bool{}
	for _, w := range strings.Fields(stopList(lang)) {
		stop[w] = true
	}
	return stop
}

func stopList(lang string) string {
	switch lang {
	case "en":
		return `a about above after again against ain't all also although always am among an and any are aren't as at
			be because been before being below between both but by can can't cannot could couldn't did didn't do does
			doesn't doing don't done down during each either else ever every few for from further get gets got had hadn't
			has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how how's however
			i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let let's like made make many may me
			might mine more most much must mustn't my myself neither never no nor not now of off often on once one only onto
			or other others ought our ours ourselves out over own per perhaps quite rather really same shall shan't she
			she'd she'll she's should shouldn't since so some such than that that's the their theirs them themselves then
			there there's therefore these they they'd they'll they're they've this those though through thus to too under
			until up upon us very via was wasn't we we'd we'll we're we've were weren't what what's when when's where
			where's whether which while who who's whom whose why why's will with within without won't would wouldn't yes
			yet you you'd you'll you're you've your yours yourself yourselves`
	case "de":
		return `aber alle allem allen aller alles als also am an ander andere anderen anderer auch auf aus bei beim bin bis
			bist da damit dann das dass daß dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses
			dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hab habe haben hat hatte
			hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder
			jedes jene jetzt kann kein keine keinem keinen keiner können könnte machen man manche mehr mein meine mich mir
			mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie
			sind so solche soll sollte sondern sonst sowie über um und uns unser unter viel vom von vor während war waren was
			weg weil weiter welche welcher wenn werde werden wie wieder will wir wird wirst wo wollen wurde wurden würde zu
			zum zur zwar zwischen`
	case "fr":
		return `ai ainsi alors après au aucun aussi autre autres aux avait avant avec avoir c ce cela celle celui ces cet
			cette ceux chaque chez comme comment d dans de depuis des deux doit donc dont du elle elles en encore entre est et
			été être eu eux fait faire font il ils j je jusqu l la le les leur leurs lors lui m ma mais me même mes moi moins
			mon n ne ni non nos notre nous on ont ou où par pas pendant peu peut plus pour pourquoi qu quand que quel quelle
			qui quoi s sa sans se sera ses si sinon soit son sont sous sur t ta te tes toi ton tous tout toute toutes très tu
			un une vos votre vous y était étaient`
	case "es":
		return `a al algo alguno algunos ante antes aquel aquella así aún aunque bajo bien cada como cómo con contra cual
			cuando de del desde donde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta
			está están estas este esto estos fue fueron ha había han has hasta hay la las le les lo los más me mi mis mismo
			mucho muy nada ni no nos nosotros o os otra otras otro otros para pero poco por porque pues que qué quien se según
			ser si sí sido sin sobre son su sus también tan tanto te tener tiene tienen todo todos tu tus un una uno unos y
			ya yo`
	case "it":
		return `a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci come con cosa cui da dagli dai dal
			dalla dalle dei degli del dell della delle dello dentro di dopo dove e è ed era erano essere fa fino fra gli ha
			hanno ho i il in io l la le lei li lo loro lui ma me mi mia mio molto ne negli nei nel nella nelle nello noi non
			nostro o ogni per perché più poi prima qual quale quando quanto quella quelle quelli quello questa queste questi
			questo qui se sei senza si sia sono sopra sotto stata stato su sua sugli sui sul sulla sulle suo tra tu tutti tutto
			un una uno vi voi`
	case "pt":
		return `a à ao aos as às até com como da das de dela dele deles depois do dos e é ela elas ele eles em entre era
			eram essa essas esse esses esta está estão estas este estes eu foi foram há isso isto já lhe mais mas me mesmo
			meu minha muito na não nas nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual
			quando que quem se sem ser será seu seus só sua suas são também te tem têm tinha um uma você`
	case "nl":
		return `aan af al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en
			er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen
			maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch toen
			tot u uit uw van veel voor want waren was wat we wel werd wezen wie wil worden zal ze zei zelf zich zij zijn zo
			zonder zou`
	case "ru":
		return `а без более бы был была были было быть в вам вас весь во вот все всех вы где да даже для до его ее её если
			есть еще ещё же за здесь и из или им их к как ко когда кто ли либо мне может мы на надо наш не него нее нет ни
			них но ну о об однако он она они оно от очень по под при с со так также такой там те тем то того тоже той только
			том ты у уже хотя чего чей чем что чтобы чье эта эти это этот я`
	case "sv":
		return `alla allt att av blev bli då de dem den denna deras dess dessa det detta dig din du där efter ej eller en er
			ett från för ha hade han har henne hennes hon honom hur här i icke inte jag ju kan kunde man med mellan men mig
			min mot mycket ni nu när någon något några och om oss på samma sedan sig sin skulle så till under upp ut utan vad
			var vara vi vid vilken än är över`
	case "no", "nb", "nn", "da":
		return `af alle alt at av begge ble blev bli både da de deg dem den denne der deres det dette dig din disse du eller
			en enn er et etter for fordi fra få før ha hadde han har havde hende henne her hun hva hvad hvem hver hvis hvor
			hvordan i ikke ind ingen inn jeg kan kun kunne man mange med meg men mig min mot må ned nei nej noe noen noget
			nogle nu når også og om opp over på samme seg selv sig sin skal skulle slik som så til um ut uten var ved vi vil
			ville være`
	case "hu":
		return `a abban ahhoz aki akkor ami amely amíg arra arról át az azok azonban azt azzal be csak de e egy egyéb egyik el
			én ennek és ez ezek ezt fel ha hanem hogy hogyan igen így is itt ki kell le lehet lesz lett ma már meg mely mert
			mi mint minden még más nagy ne nem nincs ő ők olyan ott pedig s sem sok szerint és talán te tehát több úgy után
			vagy van vannak volt voltak`
	case "ko":
		return `그 이 저 것 수 등 및 더 또 또는 그리고 그러나 하지만 그런데 그래서 있다 없다 있는 없는 있습니다 없습니다 한다 하는
			했다 된다 되는 이다 입니다 합니다 때문에 위해 위한 대한 대해 통해 따라 경우 매우 가장 모든 다른 같은 이런 그런`
	case "zh":
		return `的 了 是 在 也 很 又 把 被 着 这 那 和 与 及 就 都 对 从 向 再 会 每 可以 以后 以前 一个 一些 没有 因为 所以 如果 但是 而且 或者 已经 这个 那个 我们 你们 他们 什么 怎么 非常 还有 不会 不能`
	case "ja":
		return `これ それ あれ この その あの ここ そこ こと もの ため よう する いる ある なる`
	}
	return ""
}
