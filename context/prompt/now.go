package prompt

import "time"

// Now is the day of the person, from which a message counts its days.
type Now struct {
	Time time.Time // any of the day, in the zone of the person
	Zone string    // the name of the zone in the IANA database, such as Europe/Berlin; "" where it is not known
}

// nowChars bounds the section, in characters.
const nowChars = 200

// now renders the section. It says no time, so that the prompts of a day are the same; and the zone as it is at noon, since it
// changes in the night.
func (b *builder) now(n *Now) {
	if n == nil {
		return
	}
	y, m, d := n.Time.Date()
	noon := time.Date(y, m, d, 12, 0, 0, 0, n.Time.Location())
	zone := noon.Format("UTC-07:00")
	if n.Zone != "" && n.Zone != "UTC" {
		zone = n.Zone + " (" + zone + ")"
	}
	day := noon.Format(time.DateOnly)
	text := "Today is " + noon.Format("Monday, "+time.DateOnly) + ", in the time zone " + b.style.inline(zone) + ".\n"
	s := b.open(SectionNow, nowChars)
	if chars := Chars(text); chars > s.room {
		b.drop(KindDay, "", day, OverBudget)
	} else {
		s.add(Item{Kind: KindDay, Title: day, Reason: "the day of the person"}, chars, text)
	}
	b.close(s)
}
