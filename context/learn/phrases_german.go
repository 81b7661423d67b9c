package learn

const (
	germanIntroduces = `der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine
		meinen meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer
		unser unsere unseren unserem unserer euer eure dieser diese dieses diesen diesem jeder jede jedes jeden jedem alle
		allen welche welcher welches im in am an auf aus bei beim mit nach von vom zu zum zur fur uber unter vor hinter neben
		zwischen durch gegen ohne um wegen seit bis ins ans viele einige manche mehr neue neuer neues neuen`
	germanEnds = `ich du er sie es wir man mich dich ihn uns euch mir dir ihm ihnen sich und oder aber denn weil dass ob
		wenn als wie wo wann warum wer was nicht nie nur auch noch schon sehr so da dann hier dort heute gestern morgen jetzt
		immer oft ja nein bitte danke hallo ist sind war waren bin bist sei wird werden wurde kann konnen muss mussen soll
		sollen will wollen darf hat haben hatte habe hast mochte gibt geht macht montag dienstag mittwoch donnerstag freitag
		samstag sonntag januar februar marz april mai juni juli august september oktober november dezember zuerst danach
		ihnen sie`
	germanEmpty = `ding dinge art weise teil zahl fall beispiel schritt punkt tag tage woche wochen monat monate jahr jahre uhr zeit
		frage fragen antwort problem sache leute mensch menschen mal ende anfang grund seite stunde stunden minuten`
	germanCommon = `der die das und ist nicht ich ein eine zu mit den von im es auf fur wir mein meine wie was kann bei dem`
)

func german() *language {
	return &language{
		introduces: setOf(germanIntroduces),
		ends:       setOf(germanEnds),
		empty:      setOf(germanEmpty),
		common:     setOf(germanCommon),
		nouns:      true,
	}
}
