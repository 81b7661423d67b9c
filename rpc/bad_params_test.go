package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/protocol/openrpc"
	"github.com/ctxd/ctxd/rpc/servertest"
)

// methodsOfMemory are the methods that these tests hold to account: a new one without entries fails.
func methodsOfMemory() (list []*protocol.Method) {
	for i := range protocol.Methods {
		m := &protocol.Methods[i]
		space, _, _ := strings.Cut(m.Name, ".")
		if slices.Contains([]string{"memory", "synonyms", "concepts", "contexts", "chat", "intent", "tools", "personality", "books", "sync"}, space) {
			list = append(list, m)
		}
	}
	return list
}

// voice is a template of a personality, as JSON.
const voice = `"identity: {name: X}\ncommunication: {tone: warm}\n"`

// TestREL6_WrongShapes: every member of the params of every method, and each member and item within, given values of wrong
// shapes, is refused by its name with what it takes, and so is one that there is not, and what are no params.
func TestREL6_WrongShapes(t *testing.T) {
	d := start(t)
	raw, err := openrpc.Document()
	must(t, err)
	var doc struct {
		Methods    []*discoveredMethod
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	must(t, json.Unmarshal(raw, &doc))
	params := map[string][]discoveredParam{}
	for _, m := range doc.Methods {
		params[m.Name] = m.Params
	}
	before := d.do("admin.stats", `{}`)
	tried := 0
	for i := range protocol.Methods {
		m := &protocol.Methods[i]
		if m.Name == "shutdown" { // it ends the connection, whatever it is given
			continue
		}
		s := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{}}
		for _, p := range params[m.Name] {
			s.Properties[p.Name] = p.Schema
		}
		check := func(field, params string) {
			_, err := d.try(m.Name, params)
			var e *client.Error
			if !errors.As(err, &e) || e.Code != protocol.CodeInvalidParams || e.Data.Field != field || !strings.Contains(e.Message, field) {
				t.Errorf("%s %s: %v, want -32602 with the field %q", m.Name, params, err, field)
			}
			tried++
		}
		if m.Name == "tools.call" {
			delete(s.Properties, "arguments") // what is wrong with them is told in the result, for the model
		}
		shapes := campaign.Sample(servertest.WrongShapes(s, doc.Components.Schemas), 6)
		for _, wrong := range append(shapes, servertest.Shape{Field: "nonesuch", Value: json.RawMessage(`{"nonesuch":1}`)}) {
			var params, member map[string]json.RawMessage
			must(t, json.Unmarshal([]byte(m.Example.Params), &params))
			must(t, json.Unmarshal(wrong.Value, &member))
			maps.Copy(params, member)
			text, err := json.Marshal(params)
			must(t, err)
			check(wrong.Field, string(text))
		}
		check("params", `[1]`)
	}
	d.want(d.do("admin.stats", `{}`), "seq", at(before, "seq"))
	t.Logf("%d wrong shapes of %d methods", tried, len(protocol.Methods))
	if tried < 1200 {
		t.Errorf("only %d wrong shapes were tried", tried)
	}
}

// refusal is a call that must be refused, and with what.
type refusal struct {
	params string // <chat>, <gone> and <file> stand for a conversation, an archived one, and an export of memories
	code   int
	field  string
}

// refusals are calls of each method that fit its types: unknown ids, stale versions, values over their size, and
// transitions that are impossible.
func refusals() map[string][]refusal {
	const (
		invalid  = protocol.CodeInvalidParams
		missing  = protocol.CodeNotFound
		conflict = protocol.CodeConflict
		limit    = protocol.CodeLimit
	)
	long := func(n int) string { return strings.Repeat("x", n) }
	ids := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%q", fmt.Sprint("i", i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	draft := func(member string) string { return `{"statement":"I try",` + member + `}` }
	return map[string][]refusal{
		"memory.add": {
			{`{"statement":""}`, invalid, "statement"},
			{draft(`"source":{"kind":"user","machine":"desk"}`), invalid, "source.machine"},
			{`{"statement":"user: hi\nassistant: hello"}`, invalid, "statement"},
			{`{"statement":"` + long(2001) + `"}`, invalid, "summary"},
			{`{"statement":"` + long(8001) + `"}`, limit, "statement"},
			{draft(`"summary":"` + long(201) + `"`), limit, "summary"},
			{draft(`"questions":` + ids(9)), limit, "questions"},
			{draft(`"tags":` + ids(51)), limit, "tags"},
			{draft(`"entityIds":` + ids(201)), limit, "entityIds"},
			{draft(`"tier":"for ever"`), invalid, "tier"},
			{draft(`"kind":"takeaway"`), invalid, "kind"},
			{draft(`"alwaysInject":true`), invalid, "alwaysInject"},
			{draft(`"importance":1.5`), invalid, "importance"},
			{draft(`"id":"no id"`), invalid, "id"},
			{draft(`"id":"old"`), conflict, "id"},
			{draft(`"handle":"o"`), invalid, "handle"},
			{draft(`"handle":"oldest"`), conflict, "handle"},
			{draft(`"contexts":["none"]`), missing, "contexts[0]"},
			{draft(`"noteIds":["none"]`), missing, "noteIds[0]"},
			{draft(`"supersedes":["none"]`), missing, "supersedes[0]"},
			{draft(`"supersedes":["archived"]`), conflict, "supersedes[0]"},
			{draft(`"validFrom":"2026-01-02T00:00:00Z","validTo":"2026-01-01T00:00:00Z"`), invalid, "validTo"},
			{draft(`"source":{"kind":"magic"}`), invalid, "source.kind"},
		},
		"memory.addMany": {
			{`{"memories":[]}`, invalid, "memories"},
			{`{"memories":[{"statement":"I try","source":{"kind":"user","machine":"desk"}}]}`, invalid, "memories[0].source.machine"},
			{`{"memories":[{"statement":"I am fine"},{"statement":""}]}`, invalid, "memories[1].statement"},
			{`{"memories":[{"statement":"I am fine"},{"statement":"I try","supersedes":["none"]}]}`, missing, "memories[1].supersedes[0]"},
			{`{"memories":[{"statement":"I am fine"},{"statement":"I try","id":"old"}]}`, conflict, "memories[1].id"},
			{`{"memories":` + many(1001, `{"statement":"x"}`) + `}`, limit, "memories"},
		},
		"memory.get": {
			{`{"ref":""}`, missing, "ref"},
			{`{"ref":"none"}`, missing, "ref"},
			{`{"ref":"#999"}`, missing, "ref"},
			{`{"ref":"` + long(300) + `"}`, missing, "ref"},
			{`{"ref":"old","audience":"world"}`, invalid, "audience"},
		},
		"memory.list": {
			{`{"tiers":["none"]}`, invalid, "tiers[0]"},
			{`{"status":["none"]}`, invalid, "status[0]"},
			{`{"sort":"size"}`, invalid, "sort"},
			{`{"limit":0}`, invalid, "limit"},
			{`{"limit":1001}`, invalid, "limit"},
			{`{"cursor":"?"}`, invalid, "cursor"},
		},
		"memory.versions": {{`{"ref":"none"}`, missing, "ref"}},
		"memory.patch": {
			{`{"statement":"I try"}`, invalid, "id"},
			{`{"id":"old","source":{"kind":"user","machine":"desk"}}`, invalid, "source.machine"},
			{`{"id":"old","match":"x","statement":"I try"}`, invalid, "id"},
			{`{"id":"none","statement":"I try"}`, missing, ""},
			{`{"match":"zqnothing","statement":"I try"}`, missing, ""},
			{`{"id":"old","statement":""}`, invalid, "statement"},
			{`{"id":"old","statement":"I try","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"old","statement":"` + long(8001) + `"}`, limit, "statement"},
			{`{"id":"old","contexts":["none"]}`, missing, "contexts[0]"},
			{`{"id":"archived","status":"contested"}`, conflict, "status"},
			{`{"id":"old","status":"active"}`, invalid, "status"},
			{`{"id":"retracted","statement":"I try"}`, conflict, ""},
			{`{"id":"none","pinned":true}`, missing, ""},
			{`{"id":"retracted","pinned":true}`, conflict, ""},
		},
		"memory.archive": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"old","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"archived"}`, conflict, ""},
			{`{"id":"retracted"}`, conflict, ""},
		},
		"memory.restore": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"old"}`, conflict, ""},
			{`{"id":"old","version":7}`, missing, "version"},
			{`{"id":"archived","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"retracted"}`, conflict, ""},
			{`{"id":"old","version":0}`, invalid, "version"},
		},
		"memory.retract": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"old","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"retracted"}`, conflict, ""},
		},
		"memory.delete": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"old"}`, conflict, "force"},
			{`{"id":"old","force":true,"ifVersion":9}`, conflict, "ifVersion"},
		},
		"memory.forget": {
			{`{}`, invalid, "conversationId"},
			{`{"all":true,"client":"x"}`, invalid, "conversationId"},
			{`{"entityId":"none"}`, missing, "entityId"},
			{`{"about":"tea","hash":"x"}`, conflict, "hash"},
		},
		"memory.export": {
			{`{}`, invalid, "path"},
			{`{"path":"m"}`, invalid, "path"},
			{`{"path":"/none/at/all/m"}`, missing, "path"},
			{`{"path":"<file>"}`, conflict, "path"},
			{`{"path":"<file>","format":"csv"}`, invalid, "format"},
		},
		"memory.import": {
			{`{}`, invalid, "path"},
			{`{"path":"m"}`, invalid, "path"},
			{`{"path":"/none/at/all/m"}`, missing, "path"},
			{`{"path":"<file>","format":"lines"}`, invalid, "format"},
			{`{"path":"<long>"}`, limit, "path"},
		},
		"memory.use": {
			{`{}`, invalid, "ids"},
			{`{"ids":["no id"]}`, invalid, "ids[0]"},
		},
		"memory.outcome": {
			{`{}`, invalid, "outcome"},
			{`{"outcome":"good","takeaway":"x"}`, invalid, "outcome"},
			{`{"outcome":"worked"}`, invalid, "conversationId"},
			{`{"outcome":"worked","takeaway":"x","related":["1"]}`, invalid, "related"},
			{`{"outcome":"worked","takeaway":"x","messageId":"m"}`, invalid, "messageId"},
			{`{"outcome":"worked","conversationId":"no id"}`, invalid, "conversationId"},
			{`{"outcome":"worked","conversationId":"<chat>","related":["1"]}`, invalid, "related[0]"},
			{`{"outcome":"worked","conversationId":"<chat>","messageId":"none"}`, missing, ""},
			{`{"outcome":"worked","takeaway":"` + long(8001) + `"}`, limit, "takeaway"},
			{`{"outcome":"worked","takeaway":"` + long(2001) + `"}`, invalid, "takeaway"},
			{`{"outcome":"worked","conversationId":"c","related":` + ids(51) + `}`, limit, "related"},
			{`{"outcome":"worked","takeaway":"x","signal":"system"}`, invalid, "signal"},
			{`{"ids":["none"],"outcome":"worked","takeaway":"x"}`, invalid, "ids"},
			{`{"ids":[],"outcome":"worked"}`, invalid, "ids"},
			{`{"ids":["no id"],"outcome":"worked"}`, invalid, "ids[0]"},
			{`{"ids":["none"],"outcome":"good"}`, invalid, "outcome"},
			{`{"ids":["none"],"outcome":"worked","signal":"hunch"}`, invalid, "signal"},
			{`{"ids":["none"],"outcome":"worked","confidence":2}`, invalid, "confidence"},
			{`{"ids":["none"],"outcome":"worked"}`, missing, "ids[0]"},
			{`{"ids":` + ids(201) + `,"outcome":"worked"}`, limit, "ids"},
		},
		"memory.judge": {
			{`{}`, invalid, "conversationId"},
			{`{"conversationId":"none"}`, missing, ""},
		},
		"memory.promote": {{`{"dryRun":1}`, invalid, "dryRun"}},
		"memory.upkeep": {
			{`{"steps":["evidence","sorcery"]}`, invalid, "steps[1]"},
			{`{"undo":"x","dryRun":true}`, invalid, "undo"},
			{`{"undo":"no id"}`, invalid, "undo"},
			{`{"undo":"none"}`, missing, ""},
			{`{"dryRun":1}`, invalid, "dryRun"},
		},
		"memory.conflicts": {{`{"limit":1001}`, invalid, "limit"}, {`{"cursor":"x"}`, invalid, "cursor"}},
		"memory.settle": {
			{`{}`, invalid, "id"},
			{`{"id":"none"}`, invalid, "with"},
			{`{"id":"none","with":"none2"}`, invalid, "resolution"},
			{`{"id":"none","with":"none2","resolution":"win"}`, invalid, "resolution"},
			{`{"id":"none","with":"none","resolution":"keep"}`, invalid, "with"},
			{`{"id":"none","with":"none2","resolution":"keep"}`, missing, "id"},
			{`{"id":"old","with":"none2","resolution":"keep"}`, missing, "with"},
			{`{"id":"old","with":"archived","resolution":"keep"}`, conflict, ""},
		},
		"memory.events": {
			{`{"id":"no id"}`, invalid, "id"},
			{`{"limit":1001}`, invalid, "limit"},
			{`{"cursor":"x"}`, invalid, "cursor"},
			{`{"since":"soon"}`, invalid, "since"},
		},
		"memory.search": {
			{`{"query":"tea","conversationId":"no id"}`, invalid, "conversationId"},
			{`{}`, invalid, "query"},
			{`{"query":"tea","kinds":["notes"]}`, invalid, "kinds[0]"},
			{`{"query":"tea","limit":51}`, invalid, "limit"},
			{`{"query":"tea","stages":{"nonesuch":true}}`, invalid, "stages"},
			{`{"query":"tea","minScore":2}`, invalid, "minScore"},
			{`{"query":"tea","sort":"size"}`, invalid, "sort"},
		},
		"memory.similar": {
			{`{"ref":"none"}`, missing, "ref"},
			{`{"ref":"old","limit":0}`, invalid, "limit"},
		},
		"memory.profile": {{`{"limit":0}`, invalid, "limit"}},
		"memory.stats":   {{`{"audience":"world"}`, invalid, "audience"}},
		"concepts.list": {
			{`{"sort":"size"}`, invalid, "sort"},
			{`{"limit":0}`, invalid, "limit"},
			{`{"limit":501}`, invalid, "limit"},
			{`{"since":"may"}`, invalid, "since"},
		},
		"concepts.get": {
			{`{}`, invalid, "ref"},
			{`{"ref":"…"}`, invalid, "ref"},
			{`{"ref":"nonesuch"}`, missing, "ref"},
		},
		"concepts.path": {
			{`{"from":"…","to":"x"}`, invalid, "from"},
			{`{"from":"nonesuch","to":"x"}`, missing, ""},
		},
		"memory.effectiveness": {{`{}`, invalid, "task"}, {`{"task":"…"}`, invalid, "task"}},
		"memory.insights":      {{`{}`, invalid, "text"}, {`{"text":" "}`, invalid, "text"}},
		"synonyms.put": {
			{`{}`, invalid, "words"},
			{`{"words":["one"]}`, invalid, "words"},
			{`{"words":["one","[[two]]"]}`, invalid, "words"},
			{`{"words":` + ids(17) + `}`, limit, "words"},
			{`{"words":["one","` + long(101) + `"]}`, limit, "words"},
		},
		"synonyms.list": {{`{"audience":"world"}`, invalid, "audience"}},
		"synonyms.delete": {
			{`{"words":[]}`, invalid, "words"},
			{`{"words":` + ids(17) + `}`, limit, "words"},
		},
		"contexts.put": {
			{`{}`, invalid, "name"},
			{`{"name":""}`, invalid, "name"},
			{`{"name":"` + long(201) + `"}`, limit, "name"},
			{`{"name":"x","description":"` + long(2001) + `"}`, limit, "description"},
			{`{"name":"x","parentId":"none"}`, missing, "parentId"},
			{`{"id":"life","name":"Life","parentId":"sport"}`, conflict, "parentId"},
			{`{"id":"life","name":"Life","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"no id","name":"x"}`, invalid, "id"},
			{`{"name":"x","handle":"life_context"}`, conflict, "handle"},
		},
		"contexts.get":  {{`{}`, invalid, "ref"}, {`{"ref":"none"}`, missing, "ref"}},
		"contexts.list": {{`{"parentId":"none"}`, missing, "parentId"}, {`{"parentId":"life","tree":true}`, invalid, "tree"}},
		"contexts.link": {
			{`{"id":"none","memoryIds":["old"]}`, missing, ""},
			{`{"id":"life","memoryIds":["old","none"]}`, missing, "memoryIds[1]"},
			{`{"id":"life","memoryIds":` + ids(201) + `}`, limit, "memoryIds"},
		},
		"contexts.unlink": {
			{`{"id":"none","memoryIds":["old"]}`, missing, ""},
			{`{"id":"life","memoryIds":["none"]}`, missing, "memoryIds[0]"},
			{`{"id":"life","memoryIds":` + ids(201) + `}`, limit, "memoryIds"},
		},
		"contexts.delete": {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}},
		"tools.list":      {{`{"write":1}`, invalid, "write"}},
		"tools.call": {
			{`{}`, invalid, "name"},
			{`{"name":"query","maxChars":3999}`, invalid, "maxChars"},
			{`{"name":"query","maxChars":200001}`, invalid, "maxChars"},
			{`{"name":"query","audience":"world"}`, invalid, "audience"},
		},
		"chat.append": {
			{`{"messages":[]}`, invalid, "messages"},
			{`{"messages":` + many(101, `{"role":"user","content":"x"}`) + `}`, limit, "messages"},
			{`{"messages":[{"role":"user","content":""}]}`, invalid, "messages[0].content"},
			{`{"messages":[{"role":"robot","content":"x"}]}`, invalid, "messages[0].role"},
			{`{"messages":[{"role":"user","content":"x","createdAt":"2999-01-01T00:00:00Z"}]}`, invalid, "messages[0].createdAt"},
			{`{"messages":[{"role":"user","content":"x","clientMessageId":"` + long(201) + `"}]}`, limit, "messages[0].clientMessageId"},
			{`{"title":"` + long(201) + `","messages":[{"role":"user","content":"x"}]}`, limit, "title"},
			{`{"conversationId":"none","messages":[{"role":"user","content":"x"}]}`, missing, "conversationId"},
		},
		"chat.put": {
			{`{"title":"` + long(201) + `"}`, limit, "title"},
			{`{"maxContext":1}`, invalid, "maxContext"},
			{`{"id":"no id"}`, invalid, "id"},
			{`{"id":"<chat>","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"none","ifVersion":9}`, missing, ""},
			{`{"pinnedMemoryIds":["none"]}`, missing, "pinnedMemoryIds[0]"},
			{`{"pinnedNoteIds":["no id/"]}`, invalid, "pinnedNoteIds[0]"},
		},
		"chat.send": {
			{`{}`, invalid, "text"},
			{`{"text":" "}`, invalid, "text"},
			{`{"text":"x","conversationId":"none"}`, missing, "conversationId"},
			{`{"text":"x","conversationId":"<chat>","replaces":"none"}`, missing, "replaces"},
			{`{"text":"x","conversationId":"<chat>","regenerate":"none"}`, invalid, "regenerate"},
			{`{"conversationId":"<chat>","regenerate":"none"}`, missing, "regenerate"},
			{`{"regenerate":"x"}`, invalid, "conversationId"},
			{`{"text":"x","provider":"nobody"}`, invalid, "provider"},
			{`{"text":"` + long(1<<20+1) + `"}`, limit, "text"},
			{`{"text":"` + long(200_000) + `"}`, limit, "text"},
			{`{"text":"x","clientMessageId":"` + long(201) + `"}`, limit, "clientMessageId"},
			{`{"text":"x","images":[{}]}`, invalid, "images[0]"},
			{`{"text":"x","images":[{"data":"????"}]}`, invalid, "images[0].data"},
			{`{"text":"x","images":[{"data":"aGVsbG8="}]}`, invalid, "images[0]"},
			{`{"text":"x","images":[{"path":"here.png"}]}`, invalid, "images[0].path"},
			{`{"text":"x","images":[{"path":"/none/at/all.png"}]}`, missing, "images[0].path"},
			{`{"text":"x","images":` + many(6, `{"path":"/x"}`) + `}`, limit, "images"},
			{`{"text":"x","files":` + many(6, `{"name":"a","text":"x"}`) + `}`, limit, "files"},
			{`{"text":"x","files":[{"name":" ","text":"x"}]}`, invalid, "files[0].name"},
			{`{"text":"x","files":[{"name":"a","text":"` + long(20_001) + `"}]}`, limit, "files[0].text"},
			{`{"text":"x","memories":21}`, invalid, "memories"},
			{`{"text":"x","attachedMemoryIds":["no id/"]}`, invalid, "attachedMemoryIds[0]"},
		},
		"chat.cancel": {{`{}`, invalid, "conversationId"}, {`{"conversationId":"none"}`, missing, ""}},
		"chat.follow": {{`{}`, invalid, "conversationId"}, {`{"conversationId":"none"}`, missing, ""}},
		"chat.get": {
			{`{"ref":"none"}`, missing, "ref"},
			{`{"ref":"<chat>","cursor":"?"}`, invalid, "cursor"},
			{`{"ref":"<chat>","limit":1001}`, invalid, "limit"},
		},
		"chat.inspect": {
			{`{}`, invalid, "conversationId"},
			{`{"conversationId":"none"}`, missing, "conversationId"},
			{`{"conversationId":"<chat>","index":-1}`, invalid, "index"},
			{`{"conversationId":"<chat>","index":999}`, missing, "index"},
		},
		"chat.providers": {{`{"probe":"yes"}`, invalid, "probe"}},
		"chat.list":      {{`{"cursor":"?"}`, invalid, "cursor"}, {`{"limit":0}`, invalid, "limit"}},
		"chat.search": {
			{`{}`, invalid, "query"},
			{`{"query":"x","mode":"best"}`, invalid, "mode"},
			{`{"query":"x","conversationId":"none"}`, missing, "conversationId"},
			{`{"query":"` + long(1<<20+1) + `"}`, limit, "query"},
		},
		"chat.actions": {
			{`{"limit":0}`, invalid, "limit"},
			{`{"limit":1001}`, invalid, "limit"},
			{`{"conversationId":"none"}`, missing, "conversationId"},
		},
		"chat.confirm": {
			{`{}`, invalid, "id"},
			{`{"id":""}`, missing, ""},
			{`{"id":"none"}`, missing, ""},
			{`{"id":"a/b"}`, missing, ""},
			{`{"id":"act1","args":[]}`, invalid, "args"},
			{`{"id":"act1","args":{"title":null}}`, invalid, "args.title"},
			{`{"id":"act1","args":{"title":7}}`, invalid, "args.title"},
			{`{"id":"act1","args":{"owner":"x"}}`, invalid, "args.owner"},
			{`{"id":"act1","args":{"due":"tomorrow"}}`, invalid, "args.due"},
			{`{"id":"act1","args":{"details":"` + long(8193) + `"}}`, limit, "args.details"},
			{`{"id":"act2","args":{"targetId":"none"}}`, missing, "args.entityId"},
			{`{"id":"act3","args":{"details":"x"}}`, invalid, "args.title"},
			{`{"id":"old1"}`, conflict, ""},
			{`{"id":"old1","args":{"title":"x"}}`, conflict, ""},
		},
		"intent.route": {
			{`{}`, invalid, "text"},
			{`{"text":7}`, invalid, "text"},
			{`{"text":"x","conversationId":"none"}`, missing, "conversationId"},
			{`{"text":"` + long(1<<20+1) + `"}`, limit, "text"},
		},
		"books.add": {
			{`{}`, invalid, "path"},
			{`{"path":"relative"}`, invalid, "path"},
			{`{"path":"/nowhere/x.md"}`, invalid, "path"},
			{`{"path":"/x","content":"YQ=="}`, invalid, "path"},
			{`{"content":"***","mimeType":"md"}`, invalid, "content"},
			{`{"content":"YQ==","mimeType":"image/png"}`, invalid, "mimeType"},
			{`{"content":"YQ=="}`, invalid, "content"},
			{`{"content":"YQ==","mimeType":"pdf"}`, invalid, "content"},
			{`{"content":"YQ==","mimeType":"md","conversationId":"none"}`, missing, "conversationId"},
			{`{"content":"YQ==","text":"a","mimeType":"md"}`, invalid, "text"},
			{`{"text":"a"}`, invalid, "text"},
			{`{"id":"a b","text":"a","mimeType":"md"}`, invalid, "id"},
			{`{"id":"<book>","text":"another","mimeType":"md"}`, conflict, "id"},
			{`{"text":"` + long(1<<20+1) + `","mimeType":"md"}`, limit, "text"},
		},
		"books.get": {
			{`{}`, invalid, "ref"},
			{`{"ref":"none"}`, missing, "ref"},
			{`{"ref":"<book>","cursor":"x","text":true}`, invalid, "cursor"},
			{`{"ref":"<book>","section":"none"}`, missing, ""},
			{`{"ref":"<book>","limit":1001}`, invalid, "limit"},
		},
		"books.list":    {{`{"state":"x"}`, invalid, "state"}, {`{"cursor":"x"}`, invalid, "cursor"}, {`{"limit":0}`, invalid, "limit"}},
		"books.search":  {{`{}`, invalid, "query"}, {`{"query":" "}`, invalid, "query"}, {`{"query":"a","limit":51}`, invalid, "limit"}},
		"books.publish": {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}},
		"books.delete":  {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}},

		"personality.list": {{`{"x":1}`, invalid, "x"}},
		"personality.get":  {{`{"ref":7}`, invalid, "ref"}, {`{"ref":"none"}`, missing, ""}},
		"personality.put": {
			{`{}`, invalid, "template"},
			{`{"template":"x"}`, invalid, "template"},
			{`{"template":"identity: {name: X}\n"}`, invalid, "template"},
			{`{"id":"X Y","template":` + voice + `}`, invalid, "id"},
			{`{"id":"teacher","template":` + voice + `}`, conflict, ""},
			{`{"id":"none","template":` + voice + `,"ifVersion":9}`, conflict, "ifVersion"},
			{`{"template":"` + long(64<<10+1) + `"}`, limit, "template"},
		},
		"sync.status":          {{`[1]`, invalid, "params"}},
		"sync.remove":          {{`{}`, invalid, "machine"}, {`{"machine":-1}`, invalid, "machine"}, {`{"machine":2}`, conflict, ""}},
		"sync.leave":           {{`{}`, conflict, ""}},
		"sync.conflicts":       {{`{"limit":0}`, invalid, "limit"}, {`{"cursor":"?"}`, invalid, "cursor"}},
		"sync.settle":          {{`{}`, invalid, "number"}, {`{"number":1,"keep":"mine"}`, invalid, "keep"}, {`{"number":1,"keep":"theirs"}`, conflict, ""}},
		"personality.activate": {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}},
		"personality.delete":   {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}, {`{"id":"teacher"}`, conflict, ""}},
		"personality.validate": {{`{}`, invalid, "template"}, {`{"template":"x","format":"html"}`, invalid, "format"}},
		"personality.export":   {{`{"ids":"x"}`, invalid, "ids"}, {`{"ids":["none"]}`, missing, ""}},
		"personality.import": {
			{`{}`, invalid, "text"},
			{`{"text":"personalities: ["}`, invalid, "text"},
			{`{"text":"personalities: {a: x}"}`, invalid, `text.personalities["a"].template`},
			{`{"text":"personalities: {teacher: \"identity: {name: X}\\ncommunication: {tone: warm}\"}"}`, conflict, `text.personalities["teacher"]`},
			{`{"text":"` + long(64<<10+1) + `"}`, limit, "template"},
		},
		"chat.reject": {
			{`{}`, invalid, "id"},
			{`{"id":"none"}`, missing, ""},
			{`{"id":"old2"}`, conflict, ""},
		},
		"chat.patch": {
			{`{"id":"none","title":"x"}`, missing, ""},
			{`{"id":"<chat>","title":"` + long(201) + `"}`, limit, "title"},
			{`{"id":"<chat>","title":"x","ifVersion":9}`, conflict, "ifVersion"},
			{`{"id":"<chat>","temperature":3}`, invalid, "temperature"},
			{`{"id":"<chat>","pinnedMemoryIds":["old","none"]}`, missing, "pinnedMemoryIds[1]"},
			{`{"id":"<chat>","pinnedNoteIds":` + ids(101) + `}`, limit, "pinnedNoteIds"},
		},
		"chat.archive": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"<chat>","ifVersion":9}`, conflict, "ifVersion"},
		},
		"chat.restore": {
			{`{"id":"none"}`, missing, ""},
			{`{"id":"<gone>","ifVersion":9}`, conflict, "ifVersion"},
		},
		"chat.import": {
			{`{}`, invalid, "path"},
			{`{"path":"/none/at/all/x.json"}`, missing, "path"},
			{`{"path":"<file>"}`, invalid, "path"},
			{`{"path":"/x.json","data":"{}"}`, invalid, "path"},
			{`{"data":"{}"}`, invalid, "data"},
			{`{"data":"[1,2"}`, invalid, "data"},
			{`{"data":"` + goesElsewhere("<chat>") + `"}`, conflict, ""},
		},
		"chat.export": {
			{`{}`, invalid, "ref"},
			{`{"ref":"none"}`, missing, ""},
			{`{"ref":"<chat>","format":"html"}`, invalid, "format"},
			{`{"ref":"<chat>","cursor":"?"}`, invalid, "cursor"},
		},
		"chat.delete": {{`{}`, invalid, "id"}, {`{"id":"none"}`, missing, ""}},
		"chat.stats":  {{`{"since":"soon"}`, invalid, "since"}, {`{"limit":1001}`, invalid, "limit"}},
		"chat.citations": {
			{`{}`, invalid, "noteId"},
			{`{"noteId":"none"}`, missing, "noteId"},
			{`{"noteId":"a/b"}`, invalid, "noteId"},
			{`{"noteId":"none","cursor":"?"}`, invalid, "cursor"},
			{`{"noteId":"none","cursor":"YQA"}`, invalid, "cursor"},
			{`{"noteId":"none","limit":0}`, invalid, "limit"},
		},
		"chat.references": {
			{`{}`, invalid, "conversationId"},
			{`{"conversationId":"none"}`, missing, "conversationId"},
			{`{"conversationId":"none","index":1}`, missing, "conversationId"},
			{`{"conversationId":"<chat>","messageId":"none"}`, missing, "messageId"},
			{`{"conversationId":"<chat>","messageId":"none","index":1}`, invalid, "index"},
			{`{"conversationId":"<chat>","index":-1}`, invalid, "index"},
			{`{"conversationId":"<chat>","index":999}`, missing, "index"},
			{`{"conversationId":"<chat>","cursor":"?"}`, invalid, "cursor"},
			{`{"conversationId":"<chat>","cursor":"YQA"}`, invalid, "cursor"},
			{`{"conversationId":"<chat>","limit":0}`, invalid, "limit"},
		},
		"chat.suggest": {
			{`{}`, invalid, "conversationId"},
			{`{"conversationId":"none"}`, missing, "conversationId"},
			{`{"conversationId":"<chat>","limit":0}`, invalid, "limit"},
			{`{"conversationId":"<chat>","limit":51}`, invalid, "limit"},
		},
		"chat.highlights": {
			{`{}`, invalid, "messageId"},
			{`{"messageId":"none"}`, missing, "messageId"},
			{`{"messageId":"none","conversationId":"<chat>"}`, missing, "messageId"},
		},
		"chat.graph": {{`{"format":"png"}`, invalid, "format"}, {`{"nodes":1}`, invalid, "nodes"}},
	}
}

// elsewhere are errors that the contract lists and that no entry can show, with the reason.
var elsewhere = map[string]string{
	"chat.send 1002":      "an answer that is being given, of which its room has a test",
	"chat.import 1004":    "a conversation that is full, of which its room has a test",
	"memory.import 1002":  "a file that is changed while it is read",
	"sync.remove 1001":    "a machine that is not there, of which the room of the shared store has a test",
	"sync.settle 1001":    "a conflict that is not there, of which the test of two daemons has one",
	"memory.restore 1004": "memoryBank is full of what may not be archived, of which its room has a test",
}

// TestREL6_WhatIsRememberedRefusesWhatCannotBe: every method of memories, contexts and conversations has an entry for
// each of its errors that a caller can make, and none of these calls writes anything.
func TestREL6_WhatIsRememberedRefusesWhatCannotBe(t *testing.T) {
	campaign.Only(t)
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("contexts.put", `{"id":"life","name":"Life","handle":"life_context"}`)
	d.do("contexts.put", `{"id":"sport","name":"Sport","parentId":"life"}`)
	d.do("memory.addMany", `{"memories":[{"id":"old","statement":"I like tea","handle":"oldest"},`+
		`{"id":"archived","statement":"I rent"},{"id":"retracted","statement":"I fly"}]}`)
	d.do("memory.archive", `{"id":"archived"}`)
	d.do("memory.retract", `{"id":"retracted"}`)
	dir := t.TempDir()
	file, long := filepath.Join(dir, "memories.jsonl"), filepath.Join(dir, "long.txt")
	d.do("memory.export", `{"path":`+quoted(file)+`}`)
	must(t, os.WriteFile(long, []byte(strings.Repeat("x", 2<<20)), 0o600))
	talk := func(text string) string {
		return at(d.do("chat.append", `{"messages":[{"role":"user","content":"`+text+`"}]}`), "conversationId").(string)
	}
	chat, gone := talk("One"), talk("Two")
	book := at(d.do("books.add", `{"text":"# One\n\nTwo.","mimeType":"md"}`), "book.id").(string)
	d.do("chat.archive", `{"id":"`+gone+`"}`)
	d.do("chat.import", imported("acts", "Acts", time.Now(), false,
		proposal("act1", "createTask", `{"title":"x"}`, time.Now()), proposal("act3", "createTask", `null`, time.Now()),
		proposal("act2", "assignEntity", `{"entityId":"none","field":"f","targetId":"none"}`, time.Now())))
	d.do("chat.import", imported("olds", "Olds", time.Now(), false,
		strings.Replace(proposal("old1", "createTask", `{"title":"x"}`, time.Now()), "proposed", "rejected", 1),
		strings.Replace(proposal("old2", "createTask", `{"title":"x"}`, time.Now()), "proposed", "confirmed", 1)))
	fill := strings.NewReplacer("<book>", book, "<chat>", chat, "<gone>", gone, `"<file>"`, quoted(file), `"<long>"`, quoted(long))
	before := at(d.do("admin.stats", `{}`), "seq")
	all := refusals()
	for _, m := range methodsOfMemory() {
		var met []int
		for _, r := range all[m.Name] {
			_, err := d.try(m.Name, fill.Replace(r.params))
			var e *client.Error
			if !errors.As(err, &e) {
				t.Errorf("%s %.120s: %v, want %d", m.Name, r.params, err, r.code)
				continue
			}
			if e.Code != r.code || e.Data.Field != r.field {
				t.Errorf("%s %.120s: %v with the field %q, want %d with %q", m.Name, r.params, e, e.Data.Field, r.code, r.field)
				continue
			}
			if (e.Data.Reason != "") != (r.code == protocol.CodeConflict) {
				t.Errorf("%s %.120s: %v with the reason %q", m.Name, r.params, e, e.Data.Reason)
			}
			if e.Data.Reason == fault.StaleVersion && e.Data.Version == 0 && m.Name != "personality.put" { // where there is none
				t.Errorf("%s %.120s: the error does not have the version of the record", m.Name, r.params)
			}
			met = append(met, e.Code)
		}
		if len(met) == 0 {
			t.Errorf("%s has no entry in this test", m.Name)
		}
		for _, code := range m.Codes {
			callers := []int{protocol.CodeNotFound, protocol.CodeConflict, protocol.CodeLimit}
			if slices.Contains(callers, code) && !slices.Contains(met, code) && elsewhere[fmt.Sprint(m.Name, " ", code)] == "" {
				t.Errorf("%s may answer %d, and no entry of this test has it do so", m.Name, code)
			}
		}
		delete(all, m.Name)
	}
	if len(all) > 0 {
		t.Errorf("entries of methods that there are not: %v", slices.Sorted(maps.Keys(all)))
	}
	d.want(d.do("admin.stats", `{}`), "seq", before)
	d.want(d.do("admin.check", `{}`), "ok", true)
}

// goesElsewhere is an export of a conversation with another message, as it stands in a JSON string.
func goesElsewhere(id string) string {
	text := `{"format":"ctxd-chat","version":1,"conversation":{"id":"` + id + `","handle":"other_talk_k3x9","createdAt":"2026-03-04T08:00:00Z",` +
		`"changedAt":"2026-03-04T08:00:00Z","version":1,"all":{"messages":1,"user":1,"at":"2026-03-04T08:00:00Z"},` +
		`"public":{"messages":1,"user":1,"at":"2026-03-04T08:00:00Z"}},"messages":[{"id":"a1","index":1,"publicIndex":1,"hash":"a3f20k","role":"user",` +
		`"content":"Another","createdAt":"2026-03-04T08:00:00Z","addedAt":"2026-03-04T08:00:00Z","finish":"complete","clientMessageId":""}]}`
	return strings.ReplaceAll(text, `"`, `\"`)
}
