package learn

const (
	frenchIntroduces = `le la les l un une des du de d au aux mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet
		cette ces quel quelle quels quelles chaque plusieurs quelques aucun aucune tout toute tous toutes en dans sur sous
		avec sans pour par chez vers entre contre pendant depuis avant apres nouveau nouvelle nouveaux bon bonne grand grande
		petit petite premier premiere dernier derniere autre autres meme memes`
	frenchEnds = `je tu il elle on nous vous ils elles me te se moi toi lui eux y et ou mais donc or ni car si que qui quoi
		dont quand comment pourquoi ne n pas plus moins tres trop bien mal aussi encore deja toujours jamais souvent
		aujourd hui hier demain ici la oui non merci bonjour est sont etait suis es sommes etes ai as a avons avez ont avait
		c s j m t qu fait faire peut peux doit faut va vais lundi mardi mercredi jeudi vendredi samedi dimanche janvier
		fevrier mars avril mai juin juillet aout septembre octobre novembre decembre comme alors puis ensuite`
	frenchEmpty = `chose choses facon sorte partie nombre cas exemple point fois jour jours semaine mois an ans annee heure
		heures temps question reponse probleme gens personne fin debut raison cote`
	frenchCommon = `le la les et est je que de un une des pas pour dans mon ma mes ce qui sur avec nous vous il elle ne du`
)

func french() *language {
	return &language{
		introduces: setOf(frenchIntroduces),
		ends:       setOf(frenchEnds),
		empty:      setOf(frenchEmpty),
		common:     setOf(frenchCommon),
		names:      true,
		headFirst:  true,
		endings:    []string{"ment", "er", "ez", "ais", "ait"},
		kept: setOf(`appartement medicament document vetement logement departement monument argument paiement hiver mer papier
		courrier dossier quartier metier dejeuner diner gouter loyer fer chantier cahier escalier ouvrier atelier`),
	}
}
