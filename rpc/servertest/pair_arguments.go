package servertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Arguments are what a remote reader may call something with.
type Arguments struct {
	Schema *jsonschema.Schema            // of an object
	Defs   map[string]*jsonschema.Schema // that it refers to, by name
	// Writes: texts become those of records. They name nothing private then: who writes a private name, or a private id as
	// a link, makes something public refer to it.
	Writes bool
	// Seen: records are mostly such as a remote reader sees.
	Seen bool
	// Asks is a language of queries that "query" is of; "" for words.
	Asks string
	// Fixed are values that are not drawn.
	Fixed map[string]any
	// Group is the kind of records that ids are of where their names do not say: note, entity, memory, …, type, concept
	Group string
}

// Arguments draws arguments by their schema: ids, names and handles of records that are public, private, or gone, or that
// there are not, links of all forms, and queries. They are the same for both stores.
func (p *Pair) Arguments(a Arguments) string {
	p.seen = a.Seen
	return asJSON(p.object(&a, a.Schema, a.Fixed))
}

func (p *Pair) object(a *Arguments, s *jsonschema.Schema, fixed map[string]any) map[string]any {
	v := make(map[string]any)
	often := choose(p, 0, 10, 10, 40) // percent of what need not be given
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		value, given := fixed[name]
		switch {
		case given:
			v[name] = value
		case slices.Contains(clientSections, name) && !a.Writes:
			if p.Chance(3) {
				own := *a
				own.Writes = true
				v[name] = p.value(&own, name, s.Properties[name])
			}
		case slices.Contains(s.Required, name), p.rng.IntN(100) < often && !slices.Contains(rareParams, name), p.rng.IntN(40) == 0:
			v[name] = p.value(a, name, s.Properties[name])
		}
	}
	if len(s.Properties) == 0 { // the fields of an entity
		for _, field := range []string{"boss", "friend", "file", "about", "met", "pay"} {
			if p.Chance(4) {
				v[field] = map[string]any{"boss": p.id(pairEntity), "friend": p.id(pairEntity), "file": p.id(pairNote), "about": p.words(a), "met": []string{p.words(a)}, "pay": p.rng.IntN(50)}[field]
			}
		}
	}
	return v
}

// rareParams are parameters by which a call is mostly refused, or finds nothing.
var rareParams = []string{"audience", "ifVersion", "progressToken", "cursor", "minScore", "folder", "vault", "archived", "in", "section", "branch", "budget"}

func (p *Pair) value(a *Arguments, name string, s *jsonschema.Schema) any {
	if s.Ref != "" {
		return p.object(a, a.Defs[s.Ref[strings.LastIndex(s.Ref, "/")+1:]], nil)
	}
	if len(s.AnyOf) > 0 {
		return p.value(a, name, choose(p, s.AnyOf...))
	}
	if len(s.Enum) > 0 {
		return choose(p, s.Enum...)
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = choose(p, s.Types...)
	}
	switch kind {
	case "boolean":
		return p.Chance(2)
	case "integer", "number":
		least, most := 0, 50
		if s.Minimum != nil {
			least = int(*s.Minimum)
		}
		if s.Maximum != nil {
			most = min(most, int(*s.Maximum))
		}
		return least + p.rng.IntN(max(1, most-least+1))
	case "array":
		list := []any{}
		for range 1 + p.rng.IntN(3) {
			list = append(list, p.value(a, name, s.Items))
		}
		return list
	case "object":
		return p.object(a, s, nil)
	case "null":
		return nil
	}
	if s.Format == "date-time" {
		return choose(p, pairTimes...)
	}
	return p.string(a, name)
}

var pairTimes = []string{"2001-09-09T01:46:40Z", "2001-09-09T09:00:00Z", "2001-09-10T00:00:00Z", "2000-01-01T00:00:00Z", "2030-01-01T00:00:00Z"}

// clientSections are what a client brings for a prompt: it comes back in the prompt, masked, as what a client writes does.
var clientSections = []string{"calendarEvents", "actionItems", "files"}

// PairCursor stands for the cursor that each store gave last.
const PairCursor = "{CURSOR}"

// idKinds are the kinds of records that a parameter names, by how it is called.
var idKinds = []struct {
	in   string
	kind pairKind
}{
	{"note", pairNote},
	{"entit", pairEntity},
	{"memor", pairMemory},
	{"context", pairContext},
	{"conversation", pairConversation},
	{"session", pairConversation},
	{"book", pairBook},
	{"supersedes", pairMemory},
	{"related", pairMemory},
	{"this", pairEntity},
	{"record", pairEntity},
	{"pinned", pairNote},
}

// idWords are parameters that name records without saying of what kind.
var idWords = []string{"id", "ids", "ref", "refs", "from", "to", "this", "with", "record", "note", "notes", "entity", "entities", "memory", "memories", "book", "talk", "supersedes", "related", "contexts", "conversation", "context"}

func (p *Pair) string(a *Arguments, name string) string {
	lower := strings.ReplaceAll(strings.ToLower(name), "-", "")
	switch {
	case name == "cursor":
		return choose(p, PairCursor, PairCursor, "AA", "")
	case name == "audience":
		return "remote"
	case name == "query" && a.Asks == "wql":
		return p.wql()
	case name == "uri":
		return choose(p, "ctxd://note/", "ctxd://entity/", "ctxd://memory/") + p.id(choose(p, pairNote, pairEntity, pairMemory))
	case name == "path" || name == "folder":
		return choose(p, "folder", "folder/Willow1.md", "a", "none", p.name(a)+".md")
	case name == "handle":
		return fmt.Sprintf("%s_%d", choose(p, "fine", "open", "some"), p.rng.IntN(30))
	case strings.HasPrefix(lower, "tag"):
		return choose(p, "hive", "plan", "bees", "none", p.guess(a, strings.ToLower(PairNames[0])+"tag"))
	case lower == "type" || lower == "types" || name == "targetType":
		if a.Seen && !p.Chance(6) {
			return "Person"
		}
		return choose(p, "Person", "person", "Thing", "none")
	case lower == "status":
		return choose(p, "active", "archived", "superseded", "deprecated", "retracted")
	case lower == "kinds" || lower == "kind":
		return choose(p, "fact", "goal", "preference", "identity", "memories", "messages", "passages", "note", "entity")
	case lower == "tiers" || lower == "tier":
		return choose(p, "working", "history", "memoryBank")
	case lower == "field":
		return choose(p, "boss", "friend", "file", "about", "none")
	case slices.Contains([]string{"after", "before", "since", "asof", "changedsince", "validfrom", "validto", "until"}, lower):
		return choose(p, pairTimes...)
	case name == "template":
		return "identity: {name: X}\ncommunication: {tone: warm}\n"
	case name == "prefix":
		return choose(p, "", "wil", "z", p.name(a), strings.ToLower(p.name(a))[:2], "#", "amber")
	case name == "link":
		return p.link(a)
	case name == "clientMessageId":
		return fmt.Sprint("client", p.rng.IntN(5))
	}
	for _, k := range idKinds {
		if slices.Contains(idWords, name) && strings.Contains(lower, k.in) || strings.Contains(lower, k.in) && (strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids")) {
			return p.reference(a, name, k.kind)
		}
	}
	if slices.Contains(idWords, name) && (a.Group == "type" || a.Group == "concept") {
		if a.Seen && !p.Chance(6) {
			return "Person"
		}
		return choose(p, "Person", p.name(a), choose(p, pairWords...), "none")
	}
	if slices.Contains(idWords, name) || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") {
		if a.Group != "" && !p.Chance(6) {
			return p.reference(a, name, pairKind(a.Group))
		}
		return p.reference(a, name)
	}
	return p.words(a)
}

// guess is what only a reader who writes nothing may name.
func (p *Pair) guess(a *Arguments, private string) string {
	if a.Writes {
		return "none"
	}
	return private
}

// name draws what a record is called.
func (p *Pair) name(a *Arguments) string {
	r := p.record(a)
	if r == nil {
		return choose(p, "Nobody", "Willow999")
	}
	return r.names[0]
}

// record draws one of which a text may speak; nil for none.
func (p *Pair) record(a *Arguments, kinds ...pairKind) *pairRecord {
	some := p.live(kinds...)
	if a.Writes {
		some = slices.DeleteFunc(some, func(r *pairRecord) bool { return r.secret })
	}
	if len(some) == 0 || p.Chance(8) {
		return nil
	}
	return choose(p, some...)
}

// id draws an id of a kind, also a private one.
func (p *Pair) id(kinds ...pairKind) string {
	some := p.live(kinds...)
	if len(some) == 0 || p.Chance(8) {
		return choose(p, "none", "zzn1", "n999")
	}
	r := choose(p, some...)
	if r.kind == pairSynonyms {
		return "none"
	}
	return r.ids[p.rng.IntN(2)]
}

// reference draws what leads to a record: its id, and where that is taken its name, its handle or a link.
func (p *Pair) reference(a *Arguments, name string, kinds ...pairKind) string {
	named := len(kinds) == 0 || slices.Contains([]pairKind{pairNote, pairEntity, pairContext}, kinds[0])
	if strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") || name == "id" || name == "ids" || p.Chance(2) || a.Seen && (!named || p.Chance(2)) {
		return p.id(kinds...)
	}
	if p.Chance(3) {
		return p.link(a)
	}
	if r := p.record(a, kinds...); r != nil {
		if a.Seen && !p.Chance(6) {
			return r.names[0]
		}
		return choose(p, r.names[0], "@"+r.names[0], strings.ToLower(r.names[0]), r.names[0][:len(r.names[0])-1])
	}
	return "Nobody"
}

// Reference draws the id of a note or an entity.
func (p *Pair) Reference() string { return p.id(pairNote, pairEntity) }

// link draws a link, in any form.
func (p *Pair) link(a *Arguments) string {
	r := p.record(a, pairNote, pairEntity, pairMemory, pairContext, pairConversation)
	if r == nil || len(linkForms[r.kind]) == 0 {
		return choose(p, "[[Nowhere]]", "@nobody", "ctxd://note/none")
	}
	return choose(p, linkForms[r.kind]...).fill(r.ids[0], r.names[0])
}

// words draws a text.
func (p *Pair) words(a *Arguments) string {
	var parts []string
	for range 1 + p.rng.IntN(4) {
		switch p.rng.IntN(4) {
		case 0:
			parts = append(parts, p.link(a))
		case 1:
			parts = append(parts, p.name(a))
		default:
			parts = append(parts, choose(p, pairWords...))
		}
	}
	return strings.Join(parts, " ")
}

// wql draws a query.
func (p *Pair) wql() string {
	a := new(Arguments)
	quoted := "'" + strings.ReplaceAll(p.name(a), "'", "") + "'"
	return choose(p,
		"SELECT p FROM Person p", "SELECT COUNT(*) FROM Person", "SELECT MAX(p.pay) FROM Person p", "SELECT MIN(p.boss.name) FROM Person p",
		"SELECT p FROM Person p WHERE p.boss.name LIKE "+quoted, "SELECT p FROM Person p WHERE p.met CONTAINS "+quoted, "SELECT p FROM Person p WHERE MATCHES "+quoted,
		"SELECT COUNT(*) FROM Person p WHERE MATCHES "+quoted, "SELECT p FROM Person p ORDER BY p.boss.name DESC, p.name LIMIT 5", "SELECT p FROM Person p WHERE p.file = '"+p.id(pairNote)+"'",
		"SELECT p FROM Person p WHERE p.boss = {"+p.name(a)+"}", "SELECT p FROM Person p WHERE p.boss = {this}", "SELECT AVG(p.boss.pay) FROM Person p WHERE p.friend.pay > 10",
		"SELECT p FROM Person p WHERE p.id = '"+p.id(pairEntity)+"'", "SELECT p FROM Person p WHERE p.about LIKE '%"+p.name(a)+"%'", "SELECT p FROM "+p.name(a)+" p",
		"SELECT p FROM Person p WHERE p.same.name = "+quoted, "SELECT SUM(p.boss.boss.pay) FROM Person p", "SELECT p FROM Persn p",
		"SELECT t FROM Task t", "SELECT COUNT(*) FROM Task", "SELECT t FROM Task t WHERE t.name LIKE '%"+p.name(a)+"%'", "SELECT t FROM vault.Task t WHERE t.heading CONTAINS "+quoted, "SELECT t FROM Task t WHERE t.note = "+quoted+" ORDER BY t.tags", "SELECT t FROM Task t WHERE t.id = '"+p.id(pairNote)+"'", "SELECT COUNT(*) FROM Person p WHERE p.boss IS NOT NULL",
		"SELECT t FROM `folder/"+p.name(a)+".md` t", "SELECT p FROM Person p WHERE p.`ctxd://note/"+p.id(pairNote)+"` = 1",
	)
}
