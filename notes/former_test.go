package notes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// clocked is a store with a clock of its own, and a person whose fields name a team and a page.
type clocked struct {
	t     *testing.T
	dir   string
	db    *kv.Store
	ents  *entities.Store
	notes *notes.Store
	now   time.Time
}

func openClocked(t *testing.T) *clocked {
	c := &clocked{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	t.Cleanup(func() { c.db.Close() })
	c.open()
	for _, typ := range []entities.Type{
		{Name: "Team"},
		{Name: "Person", Fields: []entities.Field{
			{Name: "team", Type: record.EntityRef, TargetType: "Team"}, {Name: "page", Type: record.NoteRef},
		}},
	} {
		if _, _, err := c.ents.PutType(ctx, typ, nil, false); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *clocked) open() {
	c.t.Helper()
	var err error
	now := func() time.Time { return c.now }
	if c.db, err = kv.Open(c.dir, kv.Options{}); err != nil {
		c.t.Fatal(err)
	}
	if c.ents, err = entities.Open(c.db, entities.Options{Now: now}); err != nil {
		c.t.Fatal(err)
	}
	if c.notes, err = notes.Open(c.db, c.ents, notes.Options{Now: now}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clocked) reopen() {
	c.t.Helper()
	if err := c.db.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.open()
}

func (c *clocked) put(d notes.Draft) *notes.Note {
	c.t.Helper()
	n, err := c.notes.Put(ctx, d, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

func (c *clocked) drop() {
	c.t.Helper()
	if err := notes.DropFormerNames(ctx, c.db, c.now); err != nil {
		c.t.Fatal(err)
	}
}

// shows checks what the fields of a person lead to.
func (c *clocked) shows(person, team, page, when string) {
	c.t.Helper()
	fields := c.ents.Get(person).Fields
	if fields["team"] != team || fields["page"] != page {
		c.t.Errorf("%s: team %v and page %v, want %s and %s", when, fields["team"], fields["page"], team, page)
	}
}

const teamText = "---\ntype: Team\n---\n"

// TestSRCH35_FormerNames renames the file that a field names: the field leads to it for a
// month, and to another note as soon as that is called so.
func TestSRCH35_FormerNames(t *testing.T) {
	c := openClocked(t)
	person := c.put(notes.Draft{Vault: "v", Path: "Ann.md", Body: "---\ntype: Person\nteam: Core\npage: \"[[Teams/Core]]\"\n---\n"}).EntityID
	team := c.put(notes.Draft{ID: "team", Vault: "v", Path: "Teams/Core.md", Body: teamText})
	c.shows(person, team.EntityID, team.ID, "as it is called")
	c.put(notes.Draft{ID: "team", Vault: "v", Path: "Groups/Kernel.md", Body: teamText})
	c.shows(person, team.EntityID, team.ID, "renamed and moved")
	c.reopen()
	c.shows(person, team.EntityID, team.ID, "opened again")
	c.put(notes.Draft{ID: "elsewhere", Vault: "w", Path: "Teams/Core.md", Body: teamText})
	c.shows(person, team.EntityID, team.ID, "a note of that name in another vault")

	other := c.put(notes.Draft{ID: "other", Vault: "v", Path: "Teams/Core.md", Body: teamText})
	c.shows(person, other.EntityID, other.ID, "another note has the name now")
	c.put(notes.Draft{ID: "other", Vault: "v", Path: "Else.md", Body: teamText})
	c.shows(person, "[[Core]]", "[[Teams/Core]]", "two had the name")
	c.put(notes.Draft{ID: "other", Vault: "v", Path: "Else.md", Body: teamText, Private: true})
	c.shows(person, team.EntityID, team.ID, "one of them is private")
	c.put(notes.Draft{ID: "team", Vault: "v", Path: "Groups/Kernel.md", Body: "---\ntype: Team\narchived: true\n---\n"})
	c.shows(person, other.EntityID, other.ID, "and the other is archived")
	c.put(notes.Draft{ID: "team", Vault: "v", Path: "Groups/Kernel.md", Body: teamText})
	if err := c.db.Update(ctx, func(tx *kv.Tx) error { return c.notes.DeleteTx(tx, "other") }); err != nil {
		t.Fatal(err)
	}
	c.shows(person, team.EntityID, team.ID, "one of them is deleted")

	c.now = c.now.Add(notes.FormerNameTTL - time.Millisecond)
	c.drop()
	c.shows(person, team.EntityID, team.ID, "nearly a month later")
	c.now = c.now.Add(time.Millisecond)
	c.drop()
	c.shows(person, "[[Core]]", "[[Teams/Core]]", "a month later")
	c.put(notes.Draft{ID: "team", Vault: "v", Path: "Teams/Core.md", Body: teamText})
	c.shows(person, team.EntityID, team.ID, "called so again")
}

// TestSRCH35_FormerTitles renames a note without a file. Its links in texts are not helped:
// those that nobody rewrites are broken.
func TestSRCH35_FormerTitles(t *testing.T) {
	c := openClocked(t)
	c.put(notes.Draft{ID: "plan", Title: "Plan"})
	if _, err := c.ents.Put(ctx, entities.Entity{ID: "bob", Type: "Person", Name: "Bob", Fields: entities.Values{"page": "[[Plan]]"}}, nil); err != nil {
		t.Fatal(err)
	}
	c.put(notes.Draft{ID: "text", Title: "Text", Body: "see [[Plan]]"})
	c.put(notes.Draft{ID: "plan", Title: "Roadmap"})
	if got := c.ents.Get("bob").Fields["page"]; got != "plan" {
		t.Errorf("the field leads to %v", got)
	}
	if _, unresolved := c.notes.Outgoing("text"); len(unresolved) != 1 {
		t.Errorf("a link in a text by a former title: %d are unresolved, want 1", len(unresolved))
	}
	c.put(notes.Draft{ID: "plan", Title: "Plan"})
	c.put(notes.Draft{ID: "plan", Title: "Roadmap"})
	if got := c.ents.Get("bob").Fields["page"]; got != "plan" {
		t.Errorf("renamed back and forth, the field leads to %v", got)
	}
}

// TestSRCH35_FormerNamesAreAsIfKeptInAList compares random renames, deletions and days with a
// list of who was called what, and with the store opened again.
func TestSRCH35_FormerNamesAreAsIfKeptInAList(t *testing.T) {
	titles := []string{"A", "B", "C"}
	rapid.Check(t, func(rt *rapid.T) {
		c := openClocked(t)
		defer c.db.Close()
		for _, title := range titles {
			_, err := c.ents.Put(ctx, entities.Entity{ID: "of-" + title, Type: "Person", Name: title, Fields: entities.Values{"page": "[[" + title + "]]"}}, nil)
			if err != nil {
				rt.Fatal(err)
			}
		}
		type was struct {
			id    string
			until time.Time
		}
		title, called := map[string]string{}, map[string][]was{} // by id; by title
		for step := range rapid.IntRange(1, 15).Draw(rt, "steps") {
			id := fmt.Sprintf("n%d", rapid.IntRange(0, 2).Draw(rt, "note"))
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				if err := c.db.Update(ctx, func(tx *kv.Tx) error { return c.notes.DeleteTx(tx, id) }); err != nil {
					rt.Fatal(err)
				}
				delete(title, id)
				for name := range called {
					called[name] = slices.DeleteFunc(called[name], func(w was) bool { return w.id == id })
				}
			case 1:
				c.now = c.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(rt, "days")) * 24 * time.Hour)
				c.drop()
				for name := range called {
					called[name] = slices.DeleteFunc(called[name], func(w was) bool { return !w.until.After(c.now) })
				}
			default:
				next := rapid.SampledFrom(titles).Draw(rt, "title")
				c.put(notes.Draft{ID: id, Title: next})
				last := title[id]
				for _, name := range []string{last, next} {
					if last != next && name != "" {
						called[name] = slices.DeleteFunc(called[name], func(w was) bool { return w.id == id })
					}
				}
				if last != "" && last != next {
					called[last] = append(called[last], was{id, c.now.Add(notes.FormerNameTTL)})
				}
				title[id] = next
			}
			if step%4 == 3 {
				c.reopen()
			}
			for _, name := range titles {
				want, now := "[["+name+"]]", 0
				for id, is := range title {
					if is == name {
						now++
						want = id
					}
				}
				if now > 1 {
					want = "[[" + name + "]]"
				}
				if now == 0 && len(called[name]) == 1 {
					want = called[name][0].id
				}
				if got := c.ents.Get("of-" + name).Fields["page"]; got != want {
					rt.Fatalf("step %d: [[%s]] leads to %v, want %s", step, name, got, want)
				}
			}
		}
	})
}
