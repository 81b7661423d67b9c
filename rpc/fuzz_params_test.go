package rpc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/rpc/servertest"
)

// discovered is what rpc.discover says of the protocol. An attack knows nothing else of
// the methods, but for what a parameter of a name is likely to hold.
type discovered struct {
	Methods []*discoveredMethod
	Notify  []*struct {
		Name   string
		From   string `json:"x-from"`
		Topic  bool   `json:"x-topic"`
		Params []discoveredParam
		schema *jsonschema.Resolved
	} `json:"x-notifications"`
	Components struct {
		Schemas map[string]*jsonschema.Schema
		Errors  map[string]struct{ Code int }
	}

	names     []string
	methods   map[string]*discoveredMethod
	errorData *jsonschema.Resolved
}

type discoveredMethod struct {
	Name   string
	Params []discoveredParam
	Result struct{ Schema *jsonschema.Schema }
	Errors []struct {
		Ref string `json:"$ref"`
	}
	Examples []struct {
		Params []struct {
			Name  string
			Value json.RawMessage
		}
	}
	Early      bool `json:"x-before-initialize"`
	WholeStore bool `json:"x-whole-store"`
	Daemon     bool `json:"x-daemon"`

	result *jsonschema.Resolved
	codes  map[int]bool
}

type discoveredParam struct {
	Name     string
	Required bool
	Schema   *jsonschema.Schema
}

// readDocument reads what rpc.discover answered.
func readDocument(raw []byte) (*discovered, error) {
	d := &discovered{methods: map[string]*discoveredMethod{}}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "#/components/schemas/", "#/$defs/")), d); err != nil {
		return nil, err
	}
	var err error
	resolve := func(s *jsonschema.Schema) *jsonschema.Resolved {
		r, failed := servertest.ResolveSchema(s, d.Components.Schemas)
		if failed != nil {
			err = failed
		}
		return r
	}
	for _, m := range d.Methods {
		d.names = append(d.names, m.Name)
		d.methods[m.Name] = m
		m.result, m.codes = resolve(m.Result.Schema), map[int]bool{}
		for _, e := range m.Errors {
			m.codes[d.Components.Errors[strings.TrimPrefix(e.Ref, "#/components/errors/")].Code] = true
		}
	}
	for _, n := range d.Notify {
		params := &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		}
		for _, p := range n.Params {
			params.Properties[p.Name] = p.Schema
			if p.Required {
				params.Required = append(params.Required, p.Name)
			}
		}
		n.schema = resolve(params)
	}
	d.errorData = resolve(d.Components.Schemas["ErrorData"])
	return d, err
}

// generator makes params of methods, by their schemas and by what is known of the store.
type generator struct {
	doc    *discovered
	vaults string // folder of the vaults
	dir    string // of the attack: everything else that it may read and write lies in it

	mu      sync.Mutex // guards what follows: what answers have told
	ids     []string
	chats   []string
	cursors []string
	sums    []string
}

// learn keeps what an answer tells that a later call may use.
func (g *generator) learn(result any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, item := range x {
				walk(item)
			}
		case map[string]any:
			for name, inner := range x {
				text, _ := inner.(string)
				switch {
				case text == "":
					walk(inner)
				case (name == "id" || name == "entityId") && len(g.ids) < 64 && !slices.Contains(publicIDs, text):
					g.ids = append(g.ids, text)
				case name == "conversationId" && len(g.chats) < 8 && !slices.Contains(g.chats, text):
					g.chats = append(g.chats, text)
				case name == "nextCursor" && len(g.cursors) < 64:
					g.cursors = append(g.cursors, text)
				case name == "checksum" && len(g.sums) < 8:
					g.sums = append(g.sums, text)
				}
			}
		}
	}
	walk(result)
}

// told chooses one of what answers have told, or what there is instead.
func (g *generator) told(c *choices, list *[]string, instead string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := c.of(64)
	if len(*list) == 0 {
		return instead
	}
	return (*list)[i%len(*list)]
}

// What is in the store of an attack, the plainest first. Records of publicIDs hold
// nothing that is private, and may be made public.
var (
	noteIDs    = []string{"kickoff", "alpha", "open", "thing", "yard", "gone", "lead", "twin1", "unsure", "tagged", "typed"}
	entityIDs  = []string{"alice", "core", "bob", "ann", "trashed", "cid", "dee", "yara", "noted"}
	memoryIDs  = []string{"mlink", "mall", "mold", "550e8400-e29b-41d4-a716-446655440000"}
	contextIDs = []string{"ctx", "health", "below"}
	freshIDs   = []string{"new1", "new2", "new3", "new4"}
	secretIDs  = []string{"psecret", "pfile", "pboss", "plone", "ptwin", "pgone", "ptwain", "pmem", "pmemn", "pctx"}
	publicIDs  = slices.Concat(noteIDs, entityIDs, memoryIDs, contextIDs, freshIDs)

	// By name of the parameter, and for some by that of the method or of the record
	// before it.
	guesses = map[string][]string{
		"title":           {"kickoff", "Alpha", "Open", "Twin", "Pair", "Thing", "Typed", "New", "[[Alpha]]", "none"},
		"name":            {"Alice", "core", "Twine", "Bob", "Cid", "New", "[[Alpha]] x", "none"},
		"types.put.name":  {"New", "Person", "Odd", "team", "none"},
		"types.name":      {"Person", "Team", "Odd", "New", "person", "none"},
		"type":            {"Person", "Team", "Odd", "person", "none"},
		"Field.name":      {"role", "age", "team", "lead", "new", "Role"},
		"Field.type":      {"text", "number", "text_list", "boolean", "email", "url", "date", "select", "entity_ref", "entity_ref_list", "note_ref", "computed", "none"},
		"targetType":      {"Person", "Team", "Nothing"},
		"label":           {"Label", "role", ""},
		"options":         {"junior", "senior", ""},
		"PeerInfo.name":   {"fuzz", ""},
		"protocolVersion": {"1.0", "1", "0.9", "1.99", "2.0", "x"},
		"vault":           {"Notes", "Other", "none"},
		"import.name":     {"Other", "Third", "Notes"},
		"path":            {"projects/alpha.md", "a/Twin.md", "new.md", "x/y/z.md", "Kickoff.md", "Alpha", "Übung.md"},
		"folder":          {"projects", "a", "Meetings", "x/y", "none"},
		"tag":             {"plan", "plan/q1", "hive", "none"},
		"tags":            {"plan", "hive", "Plan/Q2", "new"},
		"old":             {"hive", "#plan", "Kickoff", "a b", ""},
		"new":             {"comb", "plan/q3", "Another name", "a|b", ""},
		"checkNote.path":  {"One.md", "none.md"},
		"Buffer.path":     {"One.md", "new.md"},
		"Move.from":       {"One.md", "projects", "none.md"},
		"Move.to":         {"Two.md", "x/y", "../x.md"},
		"aliases":         {"Al", "Pair", "New alias", "Alpha"},
		"handle":          {"early_bird", "hiking", "ssdva", "ab", "claim_1", "x_tag"},
		"prefix":          {"al", "", "ki", "t", "pro", "p"},
		"link":            {"[[Kickoff]]", "Alpha", "![[Open#Head|x]]", "Twin", "[[Twin]]", "Pair", "a/Twin.md", "[[^block]]", "none", "[[Thing"},
		"notes.query":     {"scales", "text of alpha", "\"see alpha\"", "tag:plan", "-alpha scales", "kikoff", "folder:projects x", "the", "type:Person al*", "after:2020-01-01"},
		"memory.query":    {"what about Alpha", "who is Alice now", "statement of the person last week", "see alpha", "the", "Was gilt im Mai?", ""},
		"match":           {"see alpha", "statement", "Alice", "none"},
		"query": {
			"SELECT p FROM Person WHERE p.team = {this}", "SELECT p FROM Person", "SELECT COUNT(*) FROM Person", "SELECT MAX(p.pay) FROM Person p",
			"SELECT p FROM Person p WHERE p.about LIKE 'see %' ORDER BY p.name DESC LIMIT 3", "SELECT AVG(p.age) FROM Person p WHERE p.name = 'Nobody'",
			"SELECT p FROM Person p WHERE MATCHES 'alice' OR p.friend.name = 'Ann'", "SELECT t FROM Team t WHERE t.lead.team = t", "SELECT p FROM Persn", "SELECT",
			"SELECT p FROM Person p WHERE p.met CONTAINS 'Bob' AND NOT p.age > 3.5e2", "SELECT MIN(p.name) FROM Person p WHERE p.boss.friend.boss IS NULL",
			"SELECT p FROM Person p WHERE p.age IN (1, 41) ORDER BY p.age", "SELECT COUNT(*) FROM Person p WHERE p.team.reports.age > 1", "(((((((", "SELECT p FROM Person WHERE p.name = '",
		},
		"text": {
			"What does @Alice do in [[Kickoff]]?", "@Bob @Ann [[Thing]] scales", "[[Twin]] [[Pair]] @Twine @core", "@Cid @[Alice] [[Open#Head]] ![[Alpha]]", "scales hive alpha",
			"@typed @alice_ [[Kickoff]][[Kickoff]]", "", "@Cid's [[Open|x]] @(Ann)",
		},
		"body": {
			"See [[Alpha]] and [[Nowhere]]. #plan/q1", "---\ntype: Person\nrole: Lead\nteam: '[[core]]'\n---\n# A person\n\nscales", "# Head\n\nscales ^block\n\n- [ ] do @Alice",
			"---\naliases: [Pair, New]\ntags: [hive]\n---\nText of [[Open]] and [[Twin]]", "---\nbroken: [\n---\nscales", "---\nprivate: true\n---\nscales", "",
			"```\n[[Alpha]]\n```\n| a | b |\n|---|---|\n| [[Alpha\\|x]] | y |\n", "<a href=\"projects/alpha.md\">a</a> [a](projects/alpha.md) [b][r]\n\n[r]: projects/alpha.md",
		},
		"after":    {"2020-01-01", "2026-01-31T09:30:00Z", "2100-12-31", "yesterday"},
		"before":   {"2100-01-01", "1990-02-30", "2026-01-31T09:30:00.5+02:00"},
		"checksum": {"", "00"},
		"cursor":   {"", "YWxwaGEAQWxwaGE", "AA", "x"},
		"topics":   {"notes.changed", "none"},
		"start":    {"9:00", "2026-01-31T09:00:00Z"},
		"end":      {"10:00", ""},
	}

	// Values of the fields of a Person, and what is none.
	fieldValues = map[string][]string{
		"role": {`"Engineer"`, `""`, "null", "1"}, "age": {"41", "-0.5", "1e300", "null", `"x"`}, "team": {`"core"`, `"none"`, "null", `"[[core]]"`},
		"about": {`"see [[Alpha]]"`, `"@Bob"`}, "met": {`["Bob","[[Alpha]]"]`, "[]", `"x"`}, "file": {`"alpha"`, `"[[Alpha]]"`, "null"},
		"friend": {`"ann"`, `"bob"`, "null"}, "born": {`"2001-02-28"`, `"2001-02-30"`, "5"}, "mail": {`"a@example.com"`, `"a"`},
		"site": {`"https://example.com/"`, `"x"`}, "level": {`"junior"`, `"none"`}, "on": {"true", "false", `"true"`}, "crew": {`["alice","bob"]`, `[""]`, `["none"]`},
		"none": {"1"}, "reports": {"1"}, "pay": {"10", "null"},
	}
)

// file chooses a path for a method that reads or writes files.
func (g *generator) file(c *choices, method string) string {
	out := filepath.Join(g.dir, "out")
	switch method {
	case "vault.import":
		return pick(c, []string{
			filepath.Join(g.vaults, "Other"), filepath.Join(g.vaults, "Notes"), filepath.Join(g.vaults, "Empty"), g.vaults, g.dir, filepath.Join(g.dir, "data"),
			filepath.Join(g.vaults, "Other", "Inner"), filepath.Join(g.dir, "link"), filepath.Join(g.vaults, "Other", "One.md"), filepath.Join(g.dir, "none"),
			g.vaults + "/./Other/../Other//", "Other", "",
		})
	case "chat.import":
		return pick(c, []string{
			filepath.Join(g.dir, "chats.json"), filepath.Join(g.vaults, "Other", "One.md"), filepath.Join(g.dir, "b.ctxdbackup"), g.dir, filepath.Join(g.dir, "none"), "chats.json", "",
		})
	case "memory.import":
		return pick(c, []string{filepath.Join(g.dir, "m.jsonl"), filepath.Join(g.vaults, "Other"), filepath.Join(out, "1"), g.dir, "m", ""})
	case "admin.restore":
		return pick(c, []string{
			filepath.Join(g.dir, "b.ctxdbackup"), filepath.Join(out, "1"), filepath.Join(out, "2"), filepath.Join(g.vaults, "Other", "One.md"), g.dir, "b", "",
		})
	}
	return pick(c, []string{
		filepath.Join(out, "1"), filepath.Join(out, "2"), filepath.Join(g.dir, "b.ctxdbackup"), filepath.Join(g.dir, "data", "x"), filepath.Join(g.vaults, "Other", "x"),
		filepath.Join(g.vaults, "Notes", "One.md"), filepath.Join(g.dir, "none", "x"), out, filepath.Join(out, strings.Repeat("x", 300)), filepath.Join(g.dir, "link", "x"), "x", "",
	})
}

func takesFile(method string) bool {
	return slices.Contains([]string{
		"vault.import", "chat.import", "admin.backup", "admin.restore", "memory.export", "memory.import",
	}, method)
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// contain leaves no path in params of a method that reads or writes files that leads out
// of the folders of the attack.
func (g *generator) contain(v *value) {
	v.each(func(inner *value) {
		text, ok := inner.unquoted()
		if clean := filepath.Clean(text); ok && filepath.IsAbs(clean) && !within(clean, g.dir) && !within(clean, g.vaults) {
			inner.scalar = quoted(filepath.Join(g.dir, "none"))
		}
	})
}

// keepPrivate leaves every record private that may be: what is private in the store of
// an attack stays so, or nobody could say what a remote connection must not be told.
func keepPrivate(method string, v *value) {
	patch := strings.HasSuffix(method, ".patch") || method == "memory.patch" || method == "chat.patch"
	if !patch && !strings.HasPrefix(method, "notes.p") && !strings.HasPrefix(method, "entities.p") &&
		method != "contexts.put" && method != "synonyms.put" {
		return
	}
	v.each(func(record *value) {
		ids := record.named("id")
		public := len(ids)+len(record.named("match")) == 0
		for _, id := range ids {
			text, ok := id.unquoted()
			public = ok && slices.Contains(publicIDs, text)
		}
		if public || record.scalar != "" || record.list {
			return
		}
		given := record.named("private")
		for _, m := range given {
			m.value = scalar("true")
		}
		if len(given) == 0 && !patch {
			record.set("private", scalar("true"))
		}
	})
}

// params makes params for a method. The first choice is the example of the document.
func (g *generator) params(c *choices, m *discoveredMethod) value {
	var v value
	how := c.of(8)
	if how == 0 && len(m.Examples) > 0 {
		for _, p := range m.Examples[0].Params {
			given := parsed(p.Value)
			if p.Name == "path" && takesFile(m.Name) {
				given = scalar(quoted(g.file(c, m.Name)))
			}
			v.set(p.Name, given)
		}
	} else {
		for _, p := range m.Params {
			if p.Required || how > 1 && c.of(3) == 1 {
				v.set(p.Name, g.value(c, m, "", p.Name, p.Schema))
			}
		}
	}
	return v
}

// value makes a value by a schema. owner is the component that it is a member of.
func (g *generator) value(c *choices, m *discoveredMethod, owner, name string, s *jsonschema.Schema) value {
	if s.Ref != "" {
		component := strings.TrimPrefix(s.Ref, "#/$defs/")
		return g.object(c, m, component, g.doc.Components.Schemas[component])
	}
	if len(s.AnyOf) > 0 {
		return g.value(c, m, owner, name, s.AnyOf[c.of(4)/3%len(s.AnyOf)])
	}
	if len(s.Enum) > 0 {
		return scalar(quoted(fmt.Sprint(s.Enum[c.of(len(s.Enum))])))
	}
	switch s.Type {
	case "string":
		return scalar(g.text(c, m, owner, name, s.Format))
	case "integer", "number":
		return scalar(number(c, name, s))
	case "boolean":
		return scalar([]string{"true", "false"}[c.of(2)])
	case "null":
		return scalar("null")
	case "array":
		v := value{list: true}
		for range []int{1, 2, 3, 0, 1, 2, 7, 40}[c.of(8)] {
			item := g.value(c, m, owner, name, s.Items)
			v.items = append(v.items, &item)
		}
		return v
	case "object":
		return g.object(c, m, owner+"."+name, s)
	}
	return odd(c) // it may be anything
}

func (g *generator) object(c *choices, m *discoveredMethod, component string, s *jsonschema.Schema) (v value) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || c.of(3) == 1 {
			v.set(name, g.value(c, m, component, name, s.Properties[name]))
		}
	}
	if len(s.Properties) == 0 { // such as the fields of an entity
		names := slices.Sorted(maps.Keys(fieldValues))
		for range c.of(4) {
			name := pick(c, names)
			if c.rarely(8) {
				v.members = append(v.members, &member{hostile(c), odd(c)})
			}
			v.set(name, scalar(pick(c, fieldValues[name])))
		}
	}
	return v
}

func number(c *choices, name string, s *jsonschema.Schema) string {
	least, most := -3, 70_000
	if s.Minimum != nil {
		least = int(*s.Minimum)
	}
	if s.Maximum != nil {
		most = int(*s.Maximum)
	}
	switch c.of(5) {
	case 0:
		if name == "processId" {
			return strconv.Itoa(ownProcess)
		}
		return strconv.Itoa(min(most, max(1, least)))
	case 1:
		return strconv.Itoa(most)
	case 2:
		return strconv.Itoa(least)
	}
	return strconv.Itoa(least + c.of(min(most-least+1, 65_536)))
}

// text makes a quoted text for a parameter.
func (g *generator) text(c *choices, m *discoveredMethod, owner, name, format string) string {
	kind := c.of(10)
	if kind == 9 {
		return hostile(c)
	}
	group, verb, _ := strings.Cut(m.Name, ".")
	switch name {
	case "id", "conversationId", "from", "to", "this", "noteId", "entityId", "mentionedEntityIds", "mentionedNoteIds", "entityIds", "noteIds", "ids", "memoryIds", "supersedes", "contexts", "parentId", "ref":
		if strings.HasSuffix(m.Name, "Action") && owner == "" && kind < 8 {
			return quoted(pick(c, actionIDs))
		}
		return quoted(g.id(c, kind, group, name))
	case "path":
		if takesFile(m.Name) {
			return quoted(g.file(c, m.Name))
		}
	case "cursor":
		if kind < 6 {
			return quoted(g.told(c, &g.cursors, ""))
		}
	case "checksum":
		if kind < 6 {
			return quoted(g.told(c, &g.sums, ""))
		}
	}
	if format == "date-time" {
		return quoted(pick(c, []string{"2026-01-31T09:30:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999-12:00", "2026-01-31T24:00:00Z", "2026-01-31"}))
	}
	for _, key := range []string{m.Name + owner + "." + name, owner + "." + name, group + "." + name, verb + "." + name, name} {
		if list := guesses[key]; len(list) > 0 {
			return quoted(pick(c, list))
		}
	}
	return quoted(pick(c, []string{"x", "", "Alpha", "alice"}))
}

// actionIDs are ids of actions, of which a remote connection must not be told of the last two.
var actionIDs = []string{"36fd2706-8baf-433b-82eb-8c7fada847da", "46fd2706-8baf-433b-82eb-8c7fada847da", "act1", "act2", "pact1", "pact3"}

// talks are ids of conversations, which the daemon chooses.
func (g *generator) talks(c *choices) []string {
	return []string{g.told(c, &g.chats, "none")}
}

func (g *generator) id(c *choices, kind int, group, name string) string {
	notes := group == "notes" || name == "noteId" || name == "noteIds" || name == "mentionedNoteIds"
	list := entityIDs
	if notes && name != "entityId" {
		list = noteIDs
	}
	switch {
	case name == "contexts", name == "parentId", group == "contexts" && name != "memoryIds":
		list = contextIDs
	case name == "memoryIds", (group == "memory" || group == "refs") && (name == "id" || name == "ids" || name == "supersedes" || name == "ref"):
		list = memoryIDs
	}
	if group == "chat" && name != "noteId" || name == "conversationId" {
		list = g.talks(c)
	}
	switch kind {
	case 4:
		return pick(c, freshIDs)
	case 5:
		return pick(c, secretIDs)
	case 6, 7:
		return g.told(c, &g.ids, "none")
	case 8:
		return pick(c, append(slices.Clone(noteIDs), entityIDs...))
	}
	if name == "to" {
		return list[(c.of(len(list))+1)%len(list)]
	}
	return pick(c, list)
}
