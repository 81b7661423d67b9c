package prompt_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones, wherever the test runs

	"github.com/ctxd/ctxd/context/prompt"
)

// TestCTX45_Now: the day of the person stands behind the personality, in its zone, the same at any time of the day.
func TestCTX45_Now(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const day = "Today is Sunday, 2026-03-29, in the time zone Europe/Berlin (UTC+02:00).\n"
	for _, now := range []struct {
		of   prompt.Now
		text string
	}{
		{prompt.Now{Time: time.Date(2026, 3, 29, 0, 30, 0, 0, berlin), Zone: "Europe/Berlin"}, day}, // before summer time begins
		{prompt.Now{Time: time.Date(2026, 3, 29, 23, 59, 0, 0, berlin), Zone: "Europe/Berlin"}, day},
		{prompt.Now{Time: time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC).In(berlin)}, "Today is Monday, 2026-03-30, in the time zone UTC+02:00.\n"},
		{prompt.Now{Time: time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC), Zone: "UTC"}, "Today is Sunday, 2026-03-29, in the time zone UTC+00:00.\n"},
	} {
		in := prompt.Input{
			Budgets: prompt.DefaultBudgets, Personality: &prompt.Personality{ID: "ada", Name: "Ada"}, Now: &now.of,
			Pinned: []prompt.Note{{ID: "n", Title: "N", Body: prompt.NewNoteBody("text", 0)}},
		}
		section := "\n## Now\n" + now.text + "\n## Notes pinned by user\n"
		res := prompt.Build(in)
		if !strings.Contains(res.System, section) {
			t.Errorf("%q lacks %q", res.System, section)
		}
		if s := res.Report.Sections[1]; s.Name != prompt.SectionNow || s.Budget != 200 || len(s.Items) != 1 ||
			s.Items[0].Kind != prompt.KindDay || s.Items[0].Title != now.of.Time.Format(time.DateOnly) {
			t.Errorf("%+v", s)
		}
		in.Format, in.Personality = prompt.XML, nil
		if res := prompt.Build(in); !strings.HasPrefix(res.System, "<now>\n"+now.text+"</now>\n") {
			t.Errorf("%q", res.System)
		}
		in.Budgets.Total = 20
		if res := prompt.Build(in); strings.Contains(res.System, "Today") || res.Report.Dropped[0].Kind != prompt.KindDay || res.Report.Dropped[0].Reason != prompt.OverBudget {
			t.Errorf("%q, %+v", res.System, res.Report.Dropped)
		}
	}
}
