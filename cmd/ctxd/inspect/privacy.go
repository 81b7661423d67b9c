package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type privacyCmd struct {
	Record string         `arg:"" optional:"" name:"id" help:"Show only this record: id, title or path of a note, or an entity as @Name."`
	Prose  bool           `help:"List places where public records contain a private title, name or alias without a link or mention."`
	Limit  term.CountFlag `short:"n" from:"1" to:"10000" default:"100" placeholder:"N" help:"Maximum number of records or places, 1 to 10,000. Default: 100."`
}

func (privacyCmd) Help() string {
	return "Lists the records that remote models never see and the rule that makes each private, what was withheld " +
		"from the last prompts, and what each method shows to whom. " +
		"Links to and mentions of private records are removed from what a remote model sees. " +
		"Free text that contains a private name is not changed; --prose lists such places, so that you can decide."
}

func (privacyCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect privacy", "what is private, and why"},
		{`ctxd inspect privacy "Salary Bands 2025"`, "why a note is private, and from which prompts it was withheld"},
		{"ctxd inspect privacy --prose", "places where public notes contain private names"},
		{"ctxd inspect privacy --prose --json | jq -r '.places[] | \"\\(.path):\\(.line)\"'", "for scripts"},
	}
}

// privacyView is what is private, what was withheld, and which method shows what.
type privacyView struct {
	protocol.PrivateRecords
	Withheld []withheldPrompt `json:"withheld"`
	Methods  []methodSight    `json:"methods,omitempty"` // absent for one record
}

// withheldPrompt is a prompt that private records were withheld from.
type withheldPrompt struct {
	At      time.Time        `json:"at"`
	Records []withheldRecord `json:"records"`
}

// withheldRecord is a record that was withheld; its id and title are not always known.
type withheldRecord struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Title string `json:"title,omitempty"`
}

type methodSight struct {
	Method string         `json:"method"`
	Sight  protocol.Sight `json:"sight"`
}

func (c *privacyCmd) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		id, err := findRecord(a, cl, c.Record)
		if err != nil {
			return err
		}
		if c.Prose {
			return c.prose(a, cl, id)
		}
		v, err := c.read(a.Ctx, cl, id)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		v.draw(a.Out, id != "")
		return nil
	})
}

// findRecord returns the id of a note or entity, "" for no name.
func findRecord(a *Options, cl *client.Client, name string) (id string, err error) {
	if name == "" {
		return "", nil
	}
	if entities.CheckID("id", name) == nil {
		err = cl.Call(a.Ctx, "privacy.list", protocol.PrivacyList{ID: name}, nil)
		if err == nil {
			return name, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			return "", err
		}
	}
	if strings.HasPrefix(name, "@") {
		return connect.FindEntity(a.Ctx, cl, name)
	}
	n, err := connect.FindNote(a.Ctx, cl, a.Err, name)
	if err != nil {
		return "", err
	}
	return n.ID, nil
}

// maxPage is the largest page that a listing method gives.
const maxPage = 1000

func (c *privacyCmd) read(ctx context.Context, cl *client.Client, id string) (*privacyView, error) {
	v := &privacyView{Withheld: []withheldPrompt{}}
	params := protocol.PrivacyList{ID: id}
	for {
		params.Limit = min(maxPage, int(c.Limit)-len(v.Records))
		var part protocol.PrivateRecords
		err := cl.Call(ctx, "privacy.list", params, &part)
		if err != nil {
			return nil, err
		}
		part.Records = append(v.Records, part.Records...)
		v.PrivateRecords = part
		params.Cursor = part.NextCursor
		if params.Cursor == "" || len(v.Records) >= int(c.Limit) {
			break
		}
	}
	var recent protocol.RecentReports
	err := cl.Call(ctx, "context.recent", protocol.Recent{Limit: gather.DefaultReports}, &recent)
	if err != nil {
		return nil, err
	}
	titles := make(map[string]string, len(v.Records))
	for _, r := range v.Records {
		titles[r.Kind+r.ID] = r.Title
	}
	for i := range recent.Reports {
		v.addPrompt(&recent.Reports[i], id, titles)
	}
	if id == "" {
		for i := range protocol.Methods {
			m := &protocol.Methods[i]
			v.Methods = append(v.Methods, methodSight{m.Name, m.Sight()})
		}
	}
	return v, nil
}

// addPrompt adds what was withheld from a prompt, if anything was; of one record if there
// is an id.
func (v *privacyView) addPrompt(r *prompt.Recorded, id string, titles map[string]string) {
	p := withheldPrompt{At: r.At}
	for _, d := range r.Report.Dropped {
		if d.Reason == prompt.Private && (id == "" || d.ID == id) {
			p.Records = append(p.Records, withheldRecord{Kind: d.Kind, ID: d.ID, Title: titles[d.Kind+d.ID]})
		}
	}
	if len(p.Records) > 0 {
		v.Withheld = append(v.Withheld, p)
	}
}

// privacyRules say what the rules mean.
var privacyRules = map[record.PrivacyRule]string{
	record.PrivacyPublic:  "not private: remote models may see it",
	record.PrivacyFolder:  "it is in a private folder (vault.private)",
	record.PrivacyClient:  "a client has set it private",
	record.PrivacyText:    "its frontmatter says private: true",
	record.PrivacyDoubt:   "its frontmatter contains the word private",
	record.PrivacyKept:    "it was private, and its file is not complete",
	record.PrivacyEarlier: "it was private when it was last written",
	record.PrivacyNote:    "its note is private",
	record.PrivacySource:  "it was made from a private note that it no longer belongs to",
}

func (v *privacyView) draw(s *term.Screen, one bool) {
	if !one {
		s.Say(term.Styled(term.Strong, "Private records"),
			term.Styled(term.Faint,
				"  "+term.Count(v.Notes, "note")+" and "+term.Count(v.Entities, "entity")+
					"; remote models see none of them"))
	}
	t := &term.Table{Indent: 2, Keep: []int{1}}
	doubts := &term.Table{Indent: 2}
	for _, r := range v.Records {
		label := term.Line{term.Text(page.RecordLabel(r.Kind, r.Title))}
		t.Row(label, term.Line{term.Text(privacyRules[r.Rule])},
			term.Line{term.Styled(term.Faint, cmp.Or(r.Path, r.Type))})
		if r.Doubt != "" {
			doubts.Row(label, term.Line{term.Styled(term.Warn, r.Doubt)})
		}
	}
	t.Draw(s)
	if more := v.Notes + v.Entities - len(v.Records); !one && more > 0 {
		s.Say(term.Styled(term.Faint, "  … "+term.Number(more)+" more: --limit"))
	}
	if len(doubts.Rows) > 0 {
		s.Heading("In doubt")
		doubts.Draw(s)
	}
	v.drawWithheld(s)
	if !one {
		v.drawMethods(s)
		s.Say()
		s.Say(term.Styled(term.Faint,
			"Free text that contains a private name is not withheld: ctxd inspect privacy --prose"))
	}
}

func (v *privacyView) drawWithheld(s *term.Screen) {
	s.Heading("Withheld", term.Styled(term.Faint, "  from the last prompts"))
	if len(v.Withheld) == 0 {
		s.Say(term.Styled(term.Faint, "  nothing"))
		return
	}
	const shown = 10
	t := &term.Table{Indent: 2, Keep: []int{0}}
	for _, p := range v.Withheld[:min(shown, len(v.Withheld))] {
		t.Row(term.Line{term.Styled(term.Faint, term.Day(p.At))}, term.Line{term.Text(withheldNames(p.Records))})
	}
	t.Draw(s)
	if more := len(v.Withheld) - shown; more > 0 {
		s.Say(term.Styled(term.Faint, "  … "+term.Count(more, "more prompt")+": --json"))
	}
}

// withheldNames names the records that were withheld, and counts those that the report
// does not name.
func withheldNames(list []withheldRecord) string {
	const shown = 6
	var named []string
	var unnamed, more int
	for _, r := range list {
		name := cmp.Or(r.Title, r.ID)
		switch {
		case name == "":
			unnamed++
		case len(named) == shown:
			more++
		default:
			named = append(named, page.RecordLabel(r.Kind, name))
		}
	}
	if more > 0 {
		named = append(named, fmt.Sprintf("(+%d more)", more))
	}
	if unnamed > 0 {
		named = append(named, term.Count(unnamed, "reference"))
	}
	return strings.Join(named, ", ")
}

// sights say what methods show to whom.
var sights = []struct {
	sight protocol.Sight
	text  string
}{
	{protocol.SightAudience, "show each reader what its audience may see"},
	{protocol.SightWriter, "change only what the reader may see"},
	{protocol.SightLocal, "concern all records or the daemon itself: refused for a remote reader"},
	{protocol.SightNone, "report no private record to a remote reader"},
}

func (v *privacyView) drawMethods(s *term.Screen) {
	s.Heading("Methods", term.Styled(term.Faint, "  what a remote reader sees of them"))
	for _, sight := range sights {
		var names []string
		for _, m := range v.Methods {
			if m.Sight == sight.sight {
				names = append(names, m.Method)
			}
		}
		s.Say(term.Text("  " + sight.text))
		for _, l := range term.WrapNames(names, s.Columns()-4) {
			s.Say(term.Styled(term.Faint, "    "+l))
		}
	}
}

// prose lists the places of --prose.
func (c *privacyCmd) prose(a *Options, cl *client.Client, id string) error {
	var res protocol.PrivateNames
	err := c.publicHasNoNames(a.Ctx, cl, id)
	if err != nil {
		return err
	}
	params := protocol.PrivacyProse{ID: id}
	for {
		params.Limit = min(maxPage, int(c.Limit)-len(res.Places))
		var page protocol.PrivateNames
		err = cl.Call(a.Ctx, "privacy.prose", params, &page)
		if err != nil {
			return err
		}
		page.Places = append(res.Places, page.Places...)
		res, params.Cursor = page, page.NextCursor
		if params.Cursor == "" || len(res.Places) >= int(c.Limit) {
			break
		}
	}
	if a.JSON {
		return a.Out.JSON(res)
	}
	if len(res.Places) == 0 {
		a.Out.Say(term.Styled(term.Faint, "no public record contains a private name"))
		return nil
	}
	a.Out.Say(term.Styled(term.Strong, "Private names in free text"),
		term.Styled(term.Faint, "  remote models see them"))
	t := &term.Table{Indent: 2, Keep: []int{0}}
	for _, p := range res.Places {
		where := page.RecordLabel(p.Kind, p.Title)
		if p.Path != "" {
			where = p.Path
		}
		if p.Line > 0 {
			where += ":" + strconv.Itoa(p.Line)
		} else {
			where += " " + p.Field
		}
		t.Row(term.Line{term.Text(where)}, term.Line{term.Text(strings.Join(strings.Fields(p.Text), " "))},
			term.Line{term.Styled(term.Faint, "private: "+page.RecordLabel(p.Names.Kind, p.Names.Title))})
	}
	t.Draw(a.Out)
	if res.NextCursor != "" {
		a.Out.Say(term.Styled(term.Faint, "  … more: --limit"))
	}
	a.Out.Say()
	a.Out.Say(term.Styled(term.Faint,
		"To withhold a name, write it as [[link]] or @mention, or make the record private."))
	return nil
}

// publicHasNoNames returns the error for a record that is not private, whose name may
// stand anywhere.
func (c *privacyCmd) publicHasNoNames(ctx context.Context, cl *client.Client, id string) error {
	if id == "" {
		return nil
	}
	var known protocol.PrivateRecords
	err := cl.Call(ctx, "privacy.list", protocol.PrivacyList{ID: id}, &known)
	if err != nil {
		return err
	}
	for _, r := range known.Records {
		if r.Rule != record.PrivacyPublic {
			return nil
		}
	}
	return term.Misuse(fmt.Sprintf("%q is not private", c.Record),
		"ctxd inspect privacy lists what is private")
}
