package learn

const (
	englishIntroduces = `a an the my your our their his her its this that these those some any each every no another such
		of for with from about on in at into onto by against during without within through between among across via per
		over under near behind around towards toward despite like both all many several few more most other own whose which
		what new old good better best great big small large little long short high low early late main next last first
		second third same different important specific certain whole full favorite favourite current recent former
		upcoming red green blue white black primary independent standard individual daily weekly monthly yearly additional various potential possible effective overall key common clear`
	englishEnds = `i you he she it we they me him us them myself yourself himself herself itself ourselves yourselves
		themselves and or but nor so yet if because although though while when where why how whether than then there here
		as to up down out off away back again ever never always often sometimes usually now soon later today yesterday
		tomorrow tonight just only also even still already too very quite rather almost maybe perhaps please thanks thank
		hello hi hey yes ok okay well not don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn can
		could will would shall should may might must cannot is are was were be been being am do does did done doing has
		had having ll ve re once until since after before however therefore instead otherwise anyway together especially
		able ready sure glad happy sorry worried excited curious afraid likely unlikely due etc e.g i.e e g vs etc versus
		someone something anything everything nothing somebody anybody everybody nobody everyone anyone who whom
		easy hard difficult simple right wrong true false available useful helpful necessary concerned interested
		one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty
		ninety hundred thousand million half dozen above below step steps free alone longer greater less correct nor fewer monday tuesday wednesday thursday friday saturday sunday january
		february march april june july august september october november december mon tue wed thu fri sat sun
		ago enough much less least half else aside ahead apart along further forward straight certainly absolutely
		particularly typically initially finally regularly specifically currently currently essentially`
	englishSkipped = `really actually probably definitely simply`
	// englishVerbs are verbs that are seldom nouns.
	englishVerbs = `have get got getting make made go going went gone take took taken give gave given know knew known think
		thought see saw seen say said tell told come came become became find found keep kept let leave left put mean meant
		feel felt bring brought begin began begun hold held write wrote written stand stood hear heard lose lost pay paid
		meet met include continue learn change lead led understand understood speak spoke follow create allow add spend spent
		grow grew open win won offer remember consider appear buy bought wait serve die send sent expect build built stay
		fall fell reach remain suggest raise pass sell sold require decide pull need want use try ask seem help show move live
		believe happen provide sit sat like love enjoy prefer hate wish hope eat ate eaten drink drank sleep slept drive drove
		walk run ran ensure improve increase reduce avoid achieve handle manage maintain develop define identify implement
		choose chose chosen set start stop finish explain describe discuss mention share prepare adjust apply balance involve
		determine establish encourage explore organize organise optimize optimise prioritize highlight address focus
		check consult look incorporate integrate ensure customize adapt allocate assess gather attend apologize demonstrate
		reflect recommend advise recall incorporate enhance convert calculate solve simplify verify confirm validate install
		save saved store return call contain represent depend affect cause remove delete replace update join leverage
		schedule plan track review compare tailor goes lies carry expire visualize solidify clarify select arrange relate refine align
		catch break occur log execute generate`
	// englishEmpty are nouns that tell nothing of what a text speaks of.
	englishEmpty = `thing way lot kind sort bit one part number case example step item point fact place time day week
		month year hour minute second morning evening night today people person everyone someone guy man woman side end start
		beginning top bottom rest reason result question answer problem issue idea something anything nothing stuff type form
		level area aspect detail information amount set list option change need use help look sense chance matter order
		line word name tip note thank kinds sure respect regard instance addition fact term piece couple pair range
		approach process situation factor key importance conclusion summary overview section clarity consistency
		impact benefit effort feedback goal plan task focus progress date response message conversation content
		breakdown guide strategy advice insight understanding ability opportunity value reminder bullet suggestion
		decision difference version choice task value input output element method function variable field column row
		experience confidence challenge concern requirement priority
		feature condition activity outcome work luck turn drop support`
	englishCommon = `the of and to is that it for you with this are be have my i not what your we was can but if do will`
)

func english() *language {
	return &language{
		introduces: setOf(englishIntroduces),
		ends:       setOf(englishEnds),
		skipped:    setOf(englishSkipped),
		verbs:      stemsOf(englishVerbs),
		empty:      union(setOf(englishEmpty), stemsOf(englishEmpty)),
		common:     setOf(englishCommon),
		names:      true,
		endings:    []string{"ly", "ed", "ful", "ous", "able", "ible", "ive"},
		kept: setOf(`family daily supply reply assembly july italy bed shed seed need speed breed feed weed wed red
		table cable vegetable variable detective motive drive archive olive hive native initiative perspective adjective
		relative executive objective incentive italy fly belly jelly ally bully`),
	}
}

func union(sets ...map[string]bool) map[string]bool {
	out := make(map[string]bool)
	for _, set := range sets {
		for w := range set {
			out[w] = true
		}
	}
	return out
}
