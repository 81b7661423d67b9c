package audience_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// masking is a store with private records, of which public texts tell.
type masking struct {
	stored
	namers *audience.Namers
}

// canary is in the names of private records and in the labels of links to them.
var canary = regexp.MustCompile(`(?i)canary`)

// shownNote is View.ShownNote for a reader who stays.
func shownNote(v *audience.View, n *notes.Note) *notes.Note {
	shown, err := v.ShownNote(context.Background(), n)
	if err != nil {
		panic(err)
	}
	return shown
}

func newMasking(t testing.TB) *masking {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	w := &masking{stored: *openAll(t, db)}
	w.namers = w.rooms.Namers(db, func(func(string, []string) bool) {})
	_, _, err = w.ents.PutType(t.Context(), entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "about", Type: record.Text}, {Name: "said", Type: record.TextList},
	}}, nil, false)
	must(t, err)
	w.put(t, notes.Draft{
		ID: "secret", Title: "Canary Plan", Path: "Private/Canary Plan.md", Private: true, Aliases: []string{"Canary Alias"},
	})
	w.put(t, notes.Draft{ID: "paren", Title: "Paren", Path: "Private/Canary (old).md", Private: true})
	_, err = w.ents.Put(t.Context(), entities.Entity{ID: "z", Type: "P", Name: "Canary Zoe", Aliases: []string{"Canaryalias"}, Private: true}, nil)
	must(t, err)
	w.put(t, notes.Draft{ID: "other", Title: "Other", Path: "Other.md"})
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *masking) put(t testing.TB, d notes.Draft) *notes.Note {
	t.Helper()
	n, err := w.notes.Put(context.Background(), d, nil)
	must(t, err)
	return n
}

// shown returns all of a note, and of the entity that is made from it, that a reader
// is shown, but for the text.
func shown(t testing.TB, v *audience.View, n *notes.Note) string {
	t.Helper()
	all := []any{v.TitleOf(n)}
	head := *shownNote(v, n)
	head.Body = ""
	all = append(all, head)
	if e := v.Entity(n.EntityID); e != nil {
		all = append(all, v.NameOf(e), v.ShownEntity(e))
	}
	raw, err := json.Marshal(all)
	must(t, err)
	return string(raw)
}

// leads are ways to refer to a private record with a label, in one line of a heading.
var leads = []string{
	"[[Canary Plan]]", "[[Canary Plan|canary]]", "![[Canary Plan]]", "[[Private/Canary Plan|canary]]", "[[Canary Alias]]", `\[[Canary Plan]]`,
	`[canary](Private/Canary%20Plan.md)`, `[canary](<Private/Canary Plan.md>)`, `[canary](Private/Canary%20Plan "canary")`,
	`![canary](Private/Canary%20Plan.md)`, `\\[canary](Private/Canary%20Plan)`, `[canary\\](Private/Canary%20Plan)`, "[canary `]` x](Private/Canary%20Plan)",
	"[*canary* [x] **y**](Private/Canary%20Plan)", "[canary](Private/Canary&#32;Plan)", "[canary](obsidian://open?file=Canary%20Plan)",
	"[canary][r]", "[r][]", "![canary][r]", "[canary]", `<a href="Private/Canary%20Plan">canary</a>`, `<A HREF='Private/Canary%20Plan'>canary</A>`,
	"<a class=x href=Private/Canary%20Plan>canary</a>", `<a href="Private/Canary%20Plan">canary`, "<Private/Canary%20Plan.md>", "Private/Canary Plan.md",
	"Private/Canary%20Plan.md", "Private/Canary (old).md", "@Canary Zoe", "@[Canary Zoe]", "@Canaryalias", "请看@Canary Zoe", "か\u3099@canary_zoe_p_entity", "@canary_zoe_p_entity", "@*Canary Zoe*",
	"*@Canary Zoe*", "[[Canary Zoe]]", "[canary](Canary%20Zoe)", "`[[Canary Plan]]`", "*[[Canary Plan]]*", "[canary " + strings.Repeat("long ", 300) + "](Private/Canary%20Plan)",
	"[a, canary, b](Private/Canary%20Plan)", `<a href="Private/Canary%20Plan"` + strings.Repeat(" x=y", 300) + ">canary" + strings.Repeat(" long", 400) + "</a>",
	"[[Canary Plan|" + strings.Repeat("canary ", 120) + "]]", "&#91;[Canary Plan]]", `<a href="Private/Canary%20Plan" title='canary'>canary</a>`,

	// Elements with addresses, and the words in their tags.
	`<iframe src="Private/Canary%20Plan">canary</iframe>`, `<iframe title=canary src='Private/Canary Plan'/>`,
	`<img alt="canary" title='canary' src="Private/Canary%20Plan.md">`, `<img src=Private/Canary%20Plan alt="canary > canary">`,
	`<img title=don't alt="canary" src="Private/Canary%20Plan">`, `<IMG ALT=canary SRCSET="x.png 1x, Private/Canary%20Plan 2x">`,
	`<img alt=canary srcset="Private/Canary Plan 2x,x.png">`, `<object data="Private/Canary%20Plan">canary</object>`,
	`<embed src="Private/Canary%20Plan" title="canary">`, `<q cite="Private/Canary%20Plan">canary</q>`,
	`<video poster="Private/Canary%20Plan">canary</video>`, `<audio src="Private/Canary%20Plan">canary</audio>`,
	`<a href="Other.md" ping="x Private/Canary%20Plan">canary</a>`, `<button formaction="Private/Canary%20Plan">canary</button>`,
	`<form action="Private/Canary%20Plan" title="canary">`, `<img data-src="Private/Canary%20Plan" alt="canary">`,
	`<svg:image xlink:href="Private/Canary%20Plan" title="canary"/>`, `<img alt="canary src="Private/Canary%20Plan">`,
	`<a title="x > y" href="Private/Canary%20Plan">canary</a>`, `<b <img alt="canary" src="Private/Canary%20Plan">`,

	// Character references.
	"[[Canary&#32;Plan]]", "[[C&#97;nary Plan]]", "[[C&#x61;nary Plan|canary]]", "[[Canary&nbsp;Plan]]", "[[Canary Plan&vert;canary]]",
	"[[Canary Plan&num;canary]]", "&#91;&lbrack;Canary Plan&rsqb;&#x5d;", "&#64;Canary Zoe", "@Canary&#32;Zoe", "&commat;Canary&#32;Alias",
	"[canary](Private/C&#97;nary%20Plan)", "&lt;a href=&quot;Private/Canary%20Plan&quot;&gt;canary&lt;/a&gt;", "Private/Canary&#32;Plan.md",

	// Places in a record.
	"[[Canary Plan^canary]]", "[[Canary Plan.md?x=canary]]", "[[Canary Plan.md:3]]", "[[Canary Plan:3|canary]]", "[canary](Private/Canary%20Plan.md:3)",
	"[canary](Private/Canary%20Plan.md:3:7)", "[canary](Private/Canary%20Plan.md?x=1#canary)", "[canary](Private/Canary%20Plan:L3-L7#x)",
	"[canary](Private/Canary%20Plan^canary)", "<Private/Canary%20Plan.md:3>",

	// Names between marks, and of notes that are no entities.
	"@_Canary Zoe_", "@__Canary Zoe__", "@**Canary Zoe**", `@"Canary Zoe"`, "@“Canary Zoe”", "@'Canary Zoe'", "@(Canary Zoe)", "@{Canary Zoe}",
	"@[*Canary Zoe*]", `@["Canary Zoe"]`, "@_canary_zoe_p_entity_", "@Canary Plan", "@[Canary Plan]", "@canary alias", "@[Canary Alias]",
	`@"Canary Plan"`, "@_Canary Plan_", "@Private/Canary Plan", "@Canary (old)",

	// Full width, and named references to it.
	"［［Canary Plan］］", "［[Canary Plan|canary]］", "［［Canary Plan｜canary］］", "［canary］（Private/Canary%20Plan.md）", "＠Canary Zoe", "＠［Canary Zoe］",
	"＜a href=＂Private/Canary%20Plan＂＞canary＜/a＞", "Private／Canary Plan．md", "&#xff3b;&#xff3b;Canary Plan&#xff3d;&#xff3d;", "&lsqb;&lbrack;Canary Plan&rbrack;&rsqb;",
	"&commat;Canary Zoe", "&lt;img alt&equals;canary src&equals;Private&sol;Canary%20Plan.md&gt;", "&lbrack;canary&rsqb;&lpar;Private&sol;Canary%20Plan.md&rpar;",
	"[canary](obsidian&colon;//open?file=Canary%20Plan)", "[canary](obsidian：／／open?file=Canary%20Plan)",

	// Addresses and ids.
	"[canary](ctxd://note/secret)", "[canary](ctxd://note/secret#canary)", "[canary](CTXD://Note/%73ecret#^canary)", "ctxd://note/secret#canary", "<ctxd://note/secret#canary>",
	"[[ctxd://note/secret|canary]]", `<a href="ctxd://note/secret">canary</a>`, "[canary][i]", "[canary](ctxd://entity/z)", "[canary](ctxd://entity/Canary%20Zoe)",
	"[canary](ctxd://note/Canary%20Plan)", "[[secret|canary]]", "@[canary|z]", "[canary](obsidian://adv-uri?vault=V&uid=secret)", "[canary](obsidian://advanced-uri?filepath=Private%2FCanary%20Plan)",
	"[canary](obsidian://vault/V/Private/Canary%20Plan)", "[canary](logseq://graph/G?page=Canary%20Plan)", "[canary](file:///home/a/V/Private/Canary%20Plan.md)",
	"file:///home/a/V/Private/Canary%20Plan.md", "[canary](vscode://file/home/a/V/Private/Canary%20Plan.md:3)", "[canary](bear://x-callback-url/open-note?title=Canary%20Alias)",

	// What is never closed.
	"[[Canary Plan|canary", "[[Canary Plan", "![[Canary Plan", "![[Private/Canary Plan", "[canary](Private/Canary%20Plan",
	"[canary](Canary Plan", "[canary](<Private/Canary Plan", `<a href="Private/Canary%20Plan"`, `<a title="canary" href="Private/Canary Plan`,
	`<img alt="canary" src="Private/Canary%20Plan"`, "[[Canary Plan [[Other]]", `\[[Canary Plan|canary`,
}

// definitions are what the labels of leads mean.
const definitions = "\n\n[r]: Private/Canary%20Plan.md 'canary'\n[canary]: <Private/Canary Plan.md>\n[i]: ctxd://note/secret#canary\n"

// TestPRIV8_NoFormOfATitleTells puts each way into a heading that gives a note, and the
// entity made from it, their name; and into an alias, a tag and a value.
func TestPRIV8_NoFormOfATitleTells(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := newMasking(t)
	told := 0
	check := func(name, body string) {
		t.Helper()
		n := w.put(t, notes.Draft{ID: "open", Path: "Open.md", Body: body})
		if at := canary.FindString(shown(t, w.remote, n)); at != "" {
			all := strings.ReplaceAll(shown(t, w.remote, n), "long ", "")
			t.Errorf("%s: %.200q tells: %.500s", name, strings.ReplaceAll(body, "long ", ""), all)
		}
		if canary.MatchString(shown(t, w.local, n)) {
			told++
		}
	}
	const typed = "---\ntype: P\n---\n"
	for _, lead := range leads {
		check("a heading", typed+"# About "+lead+" here"+definitions)
		check("a heading under a line", typed+"About "+lead+" here\n===\n"+definitions)
		check("a heading of two lines", typed+"About\n"+lead+"\n===\n"+definitions)
		check("one far behind", typed+strings.Repeat("text\n", 20_000)+"# About "+lead+definitions)
		check("one behind code", typed+"```\n# About "+plainOf(lead)+"\n```\n\n# About "+lead+definitions)
		check("a long one", typed+"# "+strings.Repeat("long ", 98)+lead+strings.Repeat(" long", 200)+definitions)
		check("one that is cut in the link", typed+"# "+strings.Repeat("long ", 101)+lead+definitions)
		quoted := strings.ReplaceAll(lead, "'", "''")
		check("the frontmatter's title", "---\ntype: P\ntitle: 'About "+quoted+"'\n---\n"+definitions)
		check("a long one of it", "---\ntype: P\ntitle: '"+strings.Repeat("long ", 101)+quoted+"'\n---\n"+definitions)
		check("a value", "---\ntype: P\nabout: 'x "+quoted+"'\nsaid: ['"+quoted+"', 'y "+quoted+"']\n---\n"+definitions)
		if len(lead) < 400 && !strings.Contains(lead, "[r]") && !strings.Contains(lead, "[i]") && lead != "[canary]" {
			check("an alias", "---\ntype: P\naliases: ['"+quoted+"']\n---\nx")
			check("aliases in one text", "---\ntype: P\naliases: 'a, "+quoted+", b'\n---\nx")
			check("a tag", "---\ntype: P\ntags: ['"+quoted+"']\n---\nx")
			check("a type that becomes a tag", "---\ntype: [P, '"+quoted+"']\n---\nx")
		}
	}
	check("an alias over lines", "---\naliases:\n  - \"[[Canary\\n  Plan]]\"\n---\nx")
	check("an alias without quotes", "---\naliases: [[Canary Plan]]\n---\nx")
	check("a long alias", "---\naliases: [\"[[Canary Plan|"+strings.Repeat("x", 300)+"]] [["+strings.Repeat("y", 100)+"]]\"]\n---\nx")
	if told < 8*len(leads) {
		t.Errorf("a local reader is told %d times: the test proves little", told)
	}
}

// TestPRIV15_AnIDIsANameToo: ids as prompts, answers of tools and addresses write them are masked as names are; an id of a
// public record, or of none, is shown.
func TestPRIV15_AnIDIsANameToo(t *testing.T) {
	w := newMasking(t)
	const id = "5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77"
	w.put(t, notes.Draft{ID: id, Title: "Hidden", Path: "h.md", Private: true})
	forms := []string{"[id:ID]", "[id: ID]", "@ID", "@[ID]", "@[id:ID]", "ctxd://note/ID#Costs", "ctxd://memory/ID", "[[ID]]", "[it](ID)", "&lsqb;id:ID]", "＠ID"}
	for _, form := range forms {
		text := "See " + strings.ReplaceAll(form, "ID", id) + " on Monday"
		if got := w.remote.TextOf("", text); got != "See (private) on Monday" {
			t.Errorf("%s: %q", text, got)
		}
		for _, other := range []string{"other", "0c0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77"} {
			text := "See " + strings.ReplaceAll(form, "ID", other) + " on Monday"
			if got := w.remote.TextOf("", text); got != text {
				t.Errorf("%s: %q", text, got)
			}
		}
		if got := w.local.TextOf("", text); got != text {
			t.Errorf("%s, for a local reader: %q", text, got)
		}
	}
}

// plainOf returns a text without the marks of a link.
func plainOf(s string) string { return strings.NewReplacer("[", "", "]", "").Replace(s) }

// TestPRIV4_NamesOfAPrivateEntityInTheTrash: a private entity without its note is still
// what links mean, by its name, its file and its alias, beside a live public record whose
// alias is a link to it.
func TestPRIV4_NamesOfAPrivateEntityInTheTrash(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{
		ID: "boss", Path: "Canary Boss.md", Private: true, Body: "---\ntype: P\naliases: [Canarynick]\n---\n# Canary Boss",
	})
	w.put(t, notes.Draft{ID: "cid", Path: "Cid.md", Body: "---\ntype: P\naliases: ['[[Canarynick]]']\n---\n# Cid"})
	_, err := w.notes.Delete(t.Context(), "boss", nil)
	must(t, err)
	texts := []string{
		"by [[Canarynick]]", "by @Canarynick", "by @[Canarynick], too", "by [[Canary Boss]]", "by @Canary Boss",
		"by [[Canary Boss.md|canary]]", "by [canary](Canary%20Boss.md)", "by [canary](./Canary%20Boss.md#x)", "by [[/Canary Boss]]",
	}
	for _, text := range texts {
		if got := w.remote.TextOf("other", text); canary.MatchString(got) {
			t.Errorf("%q shows %q", text, got)
		}
	}
	resolved, unresolved := w.remote.Links("cid")
	if len(resolved)+len(unresolved) > 0 {
		t.Errorf("the links of a note are %v and %v", resolved, unresolved)
	}
}

// TestPRIV8_NoSpellingOfATargetTells: a target that leads nowhere as it is written, but to
// a private record as a person or a model reads it.
func TestPRIV8_NoSpellingOfATargetTells(t *testing.T) {
	w := newMasking(t)
	for _, text := range []string{
		"[[\u200bCanary Plan|canary]]", "[[Canary\u00ad Plan]]", "[[Canary Plan\u200b]]", "[[Canary%20Plan|canary]]",
		`[[Private\Canary Plan|canary]]`, `[canary](Private\Canary%20Plan.md)`, "@[Canary\u2060 Zoe]", "@**Canary Zoe**", "@*Canary Zoe*",
	} {
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: text})
		if got := shownNote(w.remote, n).Body; canary.MatchString(got) {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	for _, text := range []string{"[[100%]]", `[[a\b]]`, "@**Nobody**", "[[Caf\u00e9]]"} {
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: text})
		if got := shownNote(w.remote, n).Body; got != text {
			t.Errorf("%q, which leads to nothing private, is shown as %q", text, got)
		}
	}
}

// TestSRCH34_AMarkdownLinkBesideItsNote leads to the private file in the folder of the
// note, although a wikilink of that name would lead to a public one.
func TestSRCH34_AMarkdownLinkBesideItsNote(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{ID: "public", Title: "Public", Path: "Bill.md", Vault: "v"})
	w.put(t, notes.Draft{ID: "private", Title: "Hidden", Path: "Team/Bill.md", Vault: "v", Private: true})
	for _, text := range []string{
		"[canary](Bill.md)", "[canary](./Bill.md#Pay)", "[canary](<Bill.md> 'pay')", "[canary](%42ill.md)",
		"see [canary][b]\n\n[b]: Bill.md", `<a href="Bill.md">canary</a>`,
	} {
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Team/Open.md", Body: text, Vault: "v"})
		if got := shownNote(w.remote, n).Body; canary.MatchString(got) {
			t.Errorf("%q is shown as %q", text, got)
		}
		if resolved, unresolved := w.remote.Links("open"); len(resolved)+len(unresolved) != 0 {
			t.Errorf("%q has the links %+v, %+v", text, resolved, unresolved)
		}
	}
	n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: "[bill](Bill.md)", Vault: "v"})
	if got := shownNote(w.remote, n).Body; got != n.Body {
		t.Errorf("%q, which leads to a public note, is shown as %q", n.Body, got)
	}
	resolved, _ := w.remote.Links("open")
	if len(resolved) != 1 || resolved[0].ID != "public" {
		t.Errorf("its links are %+v", resolved)
	}
}

// TestSRCH34_AMarkdownLinkToAnyFileBesideItsNote is withheld as one to Bill.md is: to a
// canvas, and to a note by its name without the ending.
func TestSRCH34_AMarkdownLinkToAnyFileBesideItsNote(t *testing.T) {
	w := newMasking(t)
	for i, name := range []string{"Bill.md", "Board.canvas"} {
		w.put(t, notes.Draft{ID: fmt.Sprint("public", i), Title: fmt.Sprint("Public ", i), Path: name, Vault: "v"})
		w.put(t, notes.Draft{
			ID: fmt.Sprint("private", i), Title: fmt.Sprint("Hidden ", i), Path: "Team/" + name, Vault: "v", Private: true,
		})
	}
	for _, text := range []string{
		"[canary](Board.canvas)", "![canary](./Board.canvas)", "[canary](Bill)", "see [canary][b]\n\n[b]: Board.canvas",
		`<a href="Board.canvas">canary</a>`,
	} {
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Team/Open.md", Body: text, Vault: "v"})
		if got := shownNote(w.remote, n).Body; canary.MatchString(got) {
			t.Errorf("%q is shown as %q", text, got)
		}
		if resolved, unresolved := w.remote.Links("open"); len(resolved)+len(unresolved) != 0 {
			t.Errorf("%q has the links %+v, %+v", text, resolved, unresolved)
		}
	}
	n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: "[b](Board.canvas) [c](Bill) [d](url)", Vault: "v"})
	if got := shownNote(w.remote, n).Body; got != n.Body {
		t.Errorf("%q, which leads to public notes, is shown as %q", n.Body, got)
	}
}

// TestSRCH33_AttachmentsInPrivateFolders are not there for a remote reader.
func TestSRCH33_AttachmentsInPrivateFolders(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	must(t, db.Update(t.Context(), func(tx *kv.Tx) error {
		return errors.Join(notes.PutAttachment(tx, "v", notes.Attachment{Path: "Diary/canary.png"}), notes.PutAttachment(tx, "v", notes.Attachment{Path: "pic.png"}))
	}))
	w := openOver(db, openStores(t, db, notes.Options{PrivateFolders: []string{"Diary/"}}))
	_, err = w.notes.Put(t.Context(), notes.Draft{ID: "n", Path: "n.md", Vault: "v", Body: "![[canary.png]] ![[pic.png]]"}, nil)
	must(t, err)
	for _, tc := range []struct {
		view        *audience.View
		paths       []string
		unresolved  int
		attachments int
	}{{w.local, []string{"Diary/canary.png", "pic.png"}, 0, 2}, {w.remote, []string{"pic.png"}, 1, 1}} {
		resolved, _ := tc.view.Links("n")
		var paths []string
		for _, l := range resolved {
			paths = append(paths, l.Path)
		}
		if !slices.Equal(paths, tc.paths) {
			t.Errorf("links to %q, want %q", paths, tc.paths)
		}
		sees := tc.view.NotesSeen()
		if got := w.notes.LinkCount("v", sees).Unresolved; got != tc.unresolved {
			t.Errorf("%d unresolved, want %d", got, tc.unresolved)
		}
		if got := len(tc.view.Unresolved("v")); got != tc.unresolved {
			t.Errorf("%d in the list of unresolved links, want %d", got, tc.unresolved)
		}
		if got := w.notes.CountAttachments("v", sees != nil); got != tc.attachments {
			t.Errorf("%d attachments, want %d", got, tc.attachments)
		}
	}
}

// TestPRIV8_AnAliasMadeFromALinkIsNoOtherName: nor does an alias that is a link.
func TestPRIV8_AnAliasMadeFromALinkIsNoOtherName(t *testing.T) {
	w := newMasking(t)
	texts := []string{"see [[Canary Alias|canary]]", "see [[Canary Plan]]", "by @Canary Zoe", "by @[Canary Zoe], too", "of [[Canary Zoe]]", "by @Canaryalias"}
	for i, alias := range []string{"Canary Alias", "Canary Plan", "Canary Zoe", "Canaryalias"} {
		front := "---\naliases: ['[[" + alias + "]]']\n"
		w.put(t, notes.Draft{ID: fmt.Sprint("link", i), Body: front + "---\n# Link", Path: fmt.Sprint("l", i, ".md")})
		w.put(t, notes.Draft{ID: fmt.Sprint("typed", i), Body: front + "type: P\n---\n# Typed", Path: fmt.Sprint("t", i, ".md")})
	}
	for _, text := range texts {
		if got := w.remote.TextOf("other", text); canary.MatchString(got) {
			t.Errorf("%q shows %q", text, got)
		}
	}
	w.put(t, notes.Draft{ID: "own", Title: "Own", Aliases: []string{"Canary Alias"}, Path: "own.md", Vault: "v"})
	if got := w.remote.TextOf("other", texts[0]); got != texts[0] {
		t.Errorf("a link to a public alias shows %q", got)
	}
}

// TestPRIV8_NoFormOfATextTells puts each way into a text, and into code, a table, a
// quote, a comment and frontmatter.
// TestPRIV8_ATitleMadeFromALinkIsNoOtherName: a public note or entity that is called
// what a private one is, because its heading is a link to that, makes no link to the
// private one public.
func TestPRIV8_ATitleMadeFromALinkIsNoOtherName(t *testing.T) {
	w := newMasking(t)
	for i, heading := range []string{"# [[Canary Alias]]", "# [[Canary Plan]]", "# [[Canary Zoe]]"} {
		w.put(t, notes.Draft{ID: fmt.Sprint("link", i), Body: heading, Path: fmt.Sprint("l", i, ".md")})
		w.put(t, notes.Draft{ID: fmt.Sprint("typed", i), Body: "---\ntype: P\n---\n" + heading, Path: fmt.Sprint("t", i, ".md")})
	}
	for _, text := range []string{
		"see [[Canary Alias]]", "see [[Canary Plan]]", "by @Canary Zoe", "by @[Canary Zoe], too", "of [[Canary Zoe]]",
		"by @Canary Plan", "by @[Canary Plan]", "by @Canary Alias", `by @"Canary Plan"`,
	} {
		if got := w.remote.TextOf("other", text); canary.MatchString(got) {
			t.Errorf("%q shows %q", text, got)
		}
	}
	w.put(t, notes.Draft{ID: "link", Body: "# [[Nowhere]]", Path: "n.md"})
	if got := w.remote.TextOf("other", "see [[Nowhere]]"); got != "see [[Nowhere]]" {
		t.Errorf("a link to nothing private shows %q", got)
	}
}

func TestPRIV8_NoFormOfATextTells(t *testing.T) {
	w := newMasking(t)
	check := func(body string) {
		t.Helper()
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Path: "Open.md", Body: body})
		if got := shownNote(w.remote, n).Body; canary.MatchString(got) {
			t.Errorf("%.200q is shown as %.400q", body, got)
		}
		if got := shownNote(w.local, n).Body; got != body {
			t.Errorf("a local reader is shown %.200q", got)
		}
	}
	for _, lead := range leads {
		for _, around := range []string{"%s", "x %s y", "```\n%s\n```\n", "> - %s\n> x", "<!-- %s -->", "| a | %s |\n|---|---|", "---\nx: y\n---\n%s", "**%s**"} {
			check(fmt.Sprintf(around, lead) + definitions)
		}
	}
	for _, body := range []string{
		"---\nabout: Canary Plan\n---\nx", "---\nabout: \"[[Canary\\u0020Plan]]\"\nmore: y\n---\nx", "---\na:\n  - b: canary alias\nc: d\n---\nx",
		"---\nc: d\nabout: |\n  [[Canary Plan]]\n---\nx", "---\na: [Canary Zoe, Bob]\n---\nx", "---\na: [[Canary Plan]], [[Other]]\n---\nx",
	} {
		check(body)
	}
}

// TestPRIV8_WhatIsLeftOutOfFrontmatter: the values that tell, and no others.
func TestPRIV8_WhatIsLeftOutOfFrontmatter(t *testing.T) {
	w := newMasking(t)
	n := w.put(t, notes.Draft{ID: "open", Path: "Open.md", Body: "---\n# c\na: [Bob, 'Canary Zoe',\n  x]\nb: \"[[Other]]\"\nc:\n  - canary plan\n---\n# T\n"})
	want := "---\n# c\na: (private)\nb: \"[[Other]]\"\nc: (private)\n---\n# T\n"
	if got := shownNote(w.remote, n).Body; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestSRCH55_WhatIsLeftOutOfInlineFields: as of frontmatter, the keys and values that are what a private record is called.
func TestSRCH55_WhatIsLeftOutOfInlineFields(t *testing.T) {
	w := newMasking(t)
	n := w.put(t, notes.Draft{ID: "open", Body: "# T\na:: Canary Zoe\n- b:: [[Other]], [[Canary Plan]]\n[c:: \"Bob\", \"canary plan\"] (canary plan:: d) e:: about it"})
	want := "# T\na:: (private)\n- b:: [[Other]], (private)\n[c:: (private)] ((private):: d) e:: about it"
	if got := shownNote(w.remote, n).Body; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestPRIV8_AnEntityKnowsItsSourceWithoutItsNote: the note of a public entity, whose
// name was a heading with a link, is deleted.
func TestPRIV8_AnEntityKnowsItsSourceWithoutItsNote(t *testing.T) {
	w := newMasking(t)
	n := w.put(t, notes.Draft{ID: "open", Body: "---\ntype: P\naliases: ['[[Canary Plan]]']\n---\n# About [[Canary Plan]]"})
	_, err := w.notes.Delete(t.Context(), "open", nil)
	must(t, err)
	e := w.ents.Get(n.EntityID)
	if !canary.MatchString(w.local.NameOf(e)) || len(w.local.ShownEntity(e).Aliases) != 1 {
		t.Fatalf("%+v", e)
	}
	raw, err := json.Marshal([]any{w.remote.NameOf(e), w.remote.ShownEntity(e)})
	must(t, err)
	if canary.Match(raw) {
		t.Errorf("shown as %s", raw)
	}
}

// TestPRIV8_NothingButReferencesIsTakenOut: of texts of pieces, the canary is never
// shown, and what does not refer to a private record is shown as it is.
func TestPRIV8_NothingButReferencesIsTakenOut(t *testing.T) {
	w := newMasking(t)
	public := []string{
		"words", " ", " ", "\n", "\n\n", "# Heading\n", "- item\n", "> ", "`", "```\n", "[", "]", "(", ")", "[x]", "[[", "]]", "|", "\\", "<", ">", "<a ", "</a>",
		"@", "@Bob", "a@b.c", "[[Other]]", "[[Other|label]]", "[l](Other.md)", "[l](https://example.com/a.md)", "[l][o]", "\n[o]: Other.md\n", "Other.md",
		"<a href='Other.md'>l</a>", "<b>x</b>", "=", "==", "***", "\"", "'", "é", "日本", "![[Other]]", "[[None]]", ".md", "---\n", "key: value\n", "&amp;",
	}
	rapid.Check(t, func(rt *rapid.T) {
		open := strings.Join(rapid.SliceOfN(rapid.SampledFrom(public), 0, 30).Draw(rt, "public"), "")
		n := w.put(t, notes.Draft{ID: "open", Title: "Open", Body: open})
		if got := shownNote(w.remote, n).Body; got != open {
			rt.Fatalf("%q is shown as %q", open, got)
		}
		lead := rapid.SampledFrom(leads).Draw(rt, "lead")
		if strings.Contains(lead, "`") {
			lead = leads[0]
		}
		// Words part them, so that the pieces around do not take the lead apart: what
		// would be no link is prose.
		before := strings.Join(rapid.SliceOfN(rapid.SampledFrom(public), 0, 12).Draw(rt, "before"), "")
		after := strings.Join(rapid.SliceOfN(rapid.SampledFrom(public), 0, 12).Draw(rt, "after"), "")
		body := before + "\n\nword " + lead + " word\n\n" + after + definitions
		n = w.put(t, notes.Draft{ID: "open", Title: "Open", Body: body})
		if got := shownNote(w.remote, n).Body; canary.MatchString(got) {
			rt.Fatalf("%q is shown as %q", body, got)
		}
		n = w.put(t, notes.Draft{ID: "open", Body: "# " + strings.ReplaceAll(before, "\n", " ") + " word " + lead + " word\n" + after + definitions})
		if at := canary.FindString(shown(t, w.remote, n)); at != "" {
			rt.Fatalf("%q is called %q", n.Body, w.remote.TitleOf(n))
		}
	})
}

// TestPRIV8_MaskingIsLinear counts what is allocated for texts of one thing over and
// over: four times the text, four times as much.
func TestPRIV8_MaskingIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := newMasking(t)
	for _, unit := range []string{
		"[", "[[", "[[a]] ", "[[Canary Plan]] ", "](", "](a ", "<a href=x ", "<a href=\"Private/Canary Plan\"", "a.md ", "Canary Plan.md ",
		"@", "@@@ ", "@Canary ", "@[a] ", "[a]: b\n", "[a]: Canary\n[a]\n", "[a][a]", "x: @", "` [",
	} {
		mask := func(size int) float64 {
			n := notes.Note{}
			n.Body = strings.Repeat(unit, size/len(unit))
			return testing.AllocsPerRun(2, func() { _, _ = w.remote.Body(t.Context(), &n, audience.MarksOf(n.Body)) })
		}
		const size = 8 << 10
		small, large := mask(size), mask(4*size)
		if large > 5*small+50 {
			t.Errorf("%q: %.0f allocations for %d bytes, %.0f for %d", unit, small, size, large, 4*size)
		}
	}
}

// asked is a context that counts how often somebody looks whether it has ended, which
// it has after a number of looks.
type asked struct {
	context.Context
	looks, end int
}

func (a *asked) Err() error {
	a.looks++
	if a.looks > a.end {
		return context.Canceled
	}
	return nil
}

// TestREL8_MaskingLooksAtItsContext shows that a withdrawn call does not go on through a
// long text.
func TestREL8_MaskingLooksAtItsContext(t *testing.T) {
	const most = 64 << 10 // bytes between two looks
	w := newMasking(t)
	for _, part := range []string{
		"[[a]] ", "a.md ", "@a ", "<a href=x>a</a> ", "[a](b) ", "[](", "<a href=", "<a href=xxxx", "[a]: b\n[a] ",
	} {
		front := "---\n" + strings.Repeat("key: value\n", 1000) + "---\n"
		n := notes.Note{Note: record.Note{ID: "n", Body: front + strings.Repeat(part, (1<<20)/len(part))}}
		whole := &asked{Context: t.Context(), end: 1 << 30}
		_, err := w.remote.Body(whole, &n, audience.MarksOf(n.Body))
		if err != nil || whole.looks < len(n.Body)/most {
			t.Errorf("%q: %d looks in %d bytes (%v)", part, whole.looks, len(n.Body), err)
		}
		ends := &asked{Context: t.Context(), end: 3}
		_, err = w.remote.Body(ends, &n, audience.MarksOf(n.Body))
		if !errors.Is(err, context.Canceled) || ends.looks > ends.end+4 {
			t.Errorf("%q: %d looks after the end: %v", part, ends.looks-ends.end, err)
		}
	}
}

// TestPRIV6_ANoteByItsAlias: a note is found by an alias that the reader is shown,
// and by none that would tell of a private record.
func TestPRIV6_ANoteByItsAlias(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{ID: "plain", Title: "Plain", Aliases: []string{"Simple", "Twice"}})
	w.put(t, notes.Draft{ID: "linked", Title: "Linked", Aliases: []string{"About [[Canary Plan]]", "Fine"}})
	w.put(t, notes.Draft{ID: "also", Title: "Also", Aliases: []string{"Twice"}})
	w.put(t, notes.Draft{ID: "third", Title: "Third", Aliases: []string{"both", "[[Canary Plan]]"}})
	w.put(t, notes.Draft{ID: "fourth", Title: "Fourth", Aliases: []string{"both"}})
	for title, want := range map[string]struct{ local, remote string }{
		"simple":                {"plain", "plain"},
		"Canary Alias":          {"secret", ""},
		"about [[canary plan]]": {"linked", ""},
		"[[Canary Plan]]":       {"third", ""},
		"both":                  {"several", "fourth"},
		"twice":                 {"several", "several"},
	} {
		for i, view := range []*audience.View{w.local, w.remote} {
			got := ""
			switch n, err := view.NoteByTitle(title); fault.KindOf(err) {
			case fault.Conflict:
				got = "several"
			case fault.NotFound:
			default:
				got = n.ID
			}
			if want := []string{want.local, want.remote}[i]; got != want {
				t.Errorf("%q for reader %d: %q, want %q", title, i, got, want)
			}
		}
	}
}
