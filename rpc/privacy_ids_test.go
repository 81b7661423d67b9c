package rpc_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// idCalls are calls by the place of an id in their params, which ID stands for. Each method of the contract that a remote
// reader may call has an entry for each of its parameters that takes an id; further calls are of texts that have one.
var idCalls = map[string][]string{
	"notes.put id":                                    {`{"id":"ID","title":"x"}`, `{"id":"ID","title":"x","ifVersion":1}`, `{"id":"ID","title":"x","dryRun":true}`, `{"id":"ID","title":"x","vault":"V"}`},
	"notes.put entityId":                              {`{"title":"Made of it","entityId":"ID"}`},
	"notes.put body":                                  {`{"title":"Text","body":"see ID, as a word"}`, `{"title":"Head","body":"---\nlead: ID\nwith: [ID]\n---\nx"}`},
	"notes.patch id":                                  {`{"id":"ID","title":"x"}`, `{"id":"ID","append":"x","dryRun":true}`, `{"id":"ID","body":"x","ifHash":"0"}`},
	"vault.undo id":                                   {`{"id":"ID"}`, `{"id":"ID","dryRun":true}`},
	"notes.putMany notes[].id":                        {`{"notes":[{"title":"a"},{"id":"ID","title":"x"}]}`},
	"notes.putMany notes[].entityId":                  {`{"notes":[{"title":"a"},{"entityId":"ID","title":"x"}]}`},
	"notes.get ref":                                   {`{"ref":"ID"}`, `{"ref":"ctxd://note/ID"}`, `{"ref":"@ID"}`},
	"notes.archive id":                                {`{"id":"ID"}`},
	"notes.restore id":                                {`{"id":"ID"}`},
	"notes.delete id":                                 {`{"id":"ID"}`, `{"id":"ID","ifVersion":7}`},
	"notes.complete from":                             {`{"prefix":"t","from":"ID"}`},
	"notes.resolve from":                              {`{"link":"[[Open]]","from":"ID"}`},
	"notes.resolve link":                              {`{"link":"[[ID]]"}`, `{"link":"ctxd://note/ID"}`},
	"notes.similar ref":                               {`{"ref":"ID"}`},
	"search.explain ref":                              {`{"ref":"ID","query":"scales"}`},
	"notes.links ref":                                 {`{"ref":"ID"}`},
	"notes.search query":                              {`{"query":"ID scales"}`, `{"query":"lead:ID"}`},
	"entities.put id":                                 {`{"id":"ID","type":"Person","name":"x"}`, `{"id":"ID","type":"Person","name":"x","ifVersion":0}`},
	"entities.put noteId":                             {`{"type":"Person","name":"x","noteId":"ID"}`},
	"entities.put fields":                             {`{"type":"Person","name":"x of 22","fields":{"boss":"ID"}}`, `{"type":"Person","name":"y of 23","fields":{"file":"ID","met":["ID"],"about":"ID"}}`},
	"entities.patch id":                               {`{"id":"ID","name":"x"}`},
	"entities.patch noteId":                           {`{"id":"ann","noteId":"ID"}`},
	"entities.patch fields":                           {`{"id":"ann","fields":{"boss":"ID","file":"ID"}}`},
	"entities.putMany entities[].id":                  {`{"entities":[{"id":"ID","type":"Person","name":"x"}]}`},
	"entities.putMany entities[].noteId":              {`{"entities":[{"type":"Person","name":"x","noteId":"ID"}]}`},
	"entities.get ref":                                {`{"ref":"ID"}`, `{"ref":"ID","resolve":2}`, `{"ref":"@ID"}`},
	"entities.archive id":                             {`{"id":"ID"}`},
	"entities.restore id":                             {`{"id":"ID"}`},
	"entities.delete id":                              {`{"id":"ID"}`},
	"wql.query this":                                  {`{"query":"SELECT p FROM Person p","this":"ID"}`, `{"query":"SELECT p FROM Person p WHERE p.boss = {this}","this":"ID"}`},
	"wql.query query":                                 {`{"query":"SELECT p FROM Person p WHERE p.boss = 'ID' OR p.file = 'ID'"}`, `{"query":"SELECT p FROM Person p WHERE p.boss = {ID}"}`, `{"query":"SELECT COUNT(*) FROM Person p WHERE p.id = 'ID'"}`},
	"wql.check query":                                 {`{"query":"SELECT p FROM Person p WHERE p.boss = {ID}"}`},
	"types.get ref":                                   {`{"ref":"ID"}`},
	"graph.neighbors ref":                             {`{"ref":"ID"}`},
	"graph.path from":                                 {`{"from":"ID","to":"ann"}`},
	"graph.path to":                                   {`{"from":"ann","to":"ID"}`},
	"context.assemble mentionedEntityIds[]":           {`{"mentionedEntityIds":["ID","ann"]}`},
	"context.assemble mentionedNoteIds[]":             {`{"mentionedNoteIds":["ID","open"]}`},
	"context.assemble attachedMemoryIds[]":            {`{"attachedMemoryIds":["ID","mall"]}`},
	"context.assemble actionItems[].id":               {`{"actionItems":[{"id":"ID","text":"x"}]}`},
	"context.assemble actionItems[].entityIds[]":      {`{"actionItems":[{"id":"a","text":"x","entityIds":["ID"]}]}`},
	"context.assemble conversationId":                 {`{"text":"scales","conversationId":"ID","memories":5,"passages":5,"recall":{"mode":"both"}}`},
	"context.assemble text":                           {`{"text":"@ID @memory:ID [[ID]] [a](ctxd://note/ID) ctxd://memory/ID scales","memories":5}`},
	"refs.parse text":                                 {`{"text":"@ID @memory:ID [[ID]]"}`},
	"refs.complete prefix":                            {`{"prefix":"ID"}`},
	"refs.resolve ref":                                {`{"ref":"ID"}`, `{"ref":"@ID"}`, `{"ref":"@memory:ID"}`, `{"ref":"ctxd://note/ID"}`, `{"ref":"ctxd://memory/ID"}`},
	"refs.resolve refs[]":                             {`{"refs":["ID","@ID","@memory:ID","[[ID]]","@conversation_ID_message_1"]}`},
	"refs.gather text":                                {`{"text":"@ID @memory:ID [[ID]] ctxd://note/ID"}`},
	"refs.gather attachedMemoryIds[]":                 {`{"text":"scales","attachedMemoryIds":["ID","mall"],"format":"pkb"}`},
	"refs.gather conversationId":                      {`{"text":"scales","conversationId":"ID"}`},
	"refs.rename ref":                                 {`{"ref":"ID","handle":"some_handle"}`},
	"memory.add id":                                   {`{"id":"ID","statement":"x"}`},
	"memory.add handle":                               {`{"handle":"ID","statement":"The handle of 1"}`},
	"memory.add statement":                            {`{"statement":"about ID, as a word"}`},
	"memory.add contexts[]":                           {`{"statement":"contexts of 2","contexts":["ID"]}`, `{"statement":"contexts of and another 3","contexts":["ID","ctx"]}`},
	"memory.add entityIds[]":                          {`{"statement":"entities of 4","entityIds":["ID"]}`, `{"statement":"entities of and another 5","entityIds":["ID","ann"]}`},
	"memory.add noteIds[]":                            {`{"statement":"notes of 6","noteIds":["ID"]}`, `{"statement":"notes of and another 7","noteIds":["ID","open"]}`},
	"memory.add source.conversationId":                {`{"statement":"told in 8","source":{"kind":"user","conversationId":"ID"}}`},
	"memory.add source.messageIds[]":                  {`{"statement":"said in 9","source":{"kind":"user","messageIds":["ID"]}}`, `{"statement":"said in here 10","source":{"kind":"user","conversationId":"chat1","messageIds":["ID"]}}`},
	"memory.add source.noteId":                        {`{"statement":"read in 11","source":{"kind":"extraction","noteId":"ID"}}`},
	"memory.add supersedes[]":                         {`{"statement":"better than 12","supersedes":["ID"]}`, `{"statement":"better than too 13","supersedes":["mall","ID"]}`},
	"memory.addMany memories[].id":                    {`{"memories":[{"statement":"a"},{"id":"ID","statement":"x"}]}`},
	"memory.addMany memories[].handle":                {`{"memories":[{"handle":"ID","statement":"Handle again 14"}]}`},
	"memory.addMany memories[].contexts[]":            {`{"memories":[{"statement":"many contexts 15","contexts":["ID"]}]}`},
	"memory.addMany memories[].entityIds[]":           {`{"memories":[{"statement":"many entities 16","entityIds":["ID"]}]}`},
	"memory.addMany memories[].noteIds[]":             {`{"memories":[{"statement":"many notes 17","noteIds":["ID"]}]}`},
	"memory.addMany memories[].source.conversationId": {`{"memories":[{"statement":"many told 18","source":{"kind":"user","conversationId":"ID"}}]}`},
	"memory.addMany memories[].source.messageIds[]":   {`{"memories":[{"statement":"many said 19","source":{"kind":"user","messageIds":["ID"]}}]}`},
	"memory.addMany memories[].source.noteId":         {`{"memories":[{"statement":"many read 20","source":{"kind":"user","noteId":"ID"}}]}`},
	"memory.addMany memories[].supersedes[]":          {`{"memories":[{"statement":"many better 21","supersedes":["ID"]}]}`},
	"memory.get ref":                                  {`{"ref":"ID"}`, `{"ref":"@ID"}`, `{"ref":"ctxd://memory/ID"}`},
	"memory.list contexts[]":                          {`{"contexts":["ID"]}`, `{"contexts":["ID","ctx"]}`},
	"memory.list entityIds[]":                         {`{"entityIds":["ID"]}`, `{"entityIds":["ID","ann"]}`},
	"memory.versions ref":                             {`{"ref":"ID"}`},
	"memory.patch id":                                 {`{"id":"ID","statement":"x"}`},
	"memory.patch match":                              {`{"match":"ID","pinned":true}`},
	"memory.patch contexts[]":                         {`{"id":"mold","contexts":["ID"]}`},
	"memory.patch entityIds[]":                        {`{"id":"mold","entityIds":["ID"]}`},
	"memory.patch noteIds[]":                          {`{"id":"mold","noteIds":["ID"]}`},
	"memory.patch source.conversationId":              {`{"id":"mold","source":{"kind":"user","conversationId":"ID"}}`},
	"memory.patch source.messageIds[]":                {`{"id":"mold","source":{"kind":"user","messageIds":["ID"]}}`},
	"memory.patch source.noteId":                      {`{"id":"mold","source":{"kind":"user","noteId":"ID"}}`},
	"memory.archive id":                               {`{"id":"ID"}`},
	"memory.restore id":                               {`{"id":"ID"}`, `{"id":"ID","version":1}`},
	"memory.retract id":                               {`{"id":"ID"}`},
	"memory.delete id":                                {`{"id":"ID"}`, `{"id":"ID","force":true}`},
	"memory.use ids[]":                                {`{"ids":["ID"]}`, `{"ids":["mall","ID"]}`},
	"memory.search contexts[]":                        {`{"query":"scales","contexts":["ID"],"explain":true}`, `{"query":"wrote","contexts":["ID","ctx"]}`},
	"memory.search entityIds[]":                       {`{"query":"scales","entityIds":["ID"],"explain":true}`, `{"query":"Bonn","entityIds":["ID","ann"]}`},
	"memory.search conversationId":                    {`{"query":"scales","conversationId":"ID","explain":true}`, `{"query":"scales","kinds":["messages","passages","memories"],"conversationId":"ID","explain":true}`},
	"memory.search inConversation":                    {`{"query":"scales","inConversation":"ID","explain":true}`, `{"query":"scales","kinds":["messages","passages"],"inConversation":"ID"}`},
	"memory.search query":                             {`{"query":"ID"}`, `{"query":"@ID likes"}`},
	"memory.similar ref":                              {`{"ref":"ID"}`},
	"memory.outcome conversationId":                   {`{"outcome":"worked","conversationId":"ID"}`},
	"memory.outcome messageId":                        {`{"outcome":"worked","messageId":"ID"}`, `{"outcome":"worked","conversationId":"chat1","messageId":"ID"}`},
	"memory.outcome related[]":                        {`{"outcome":"worked","conversationId":"chat1","related":["ID"]}`},
	"memory.outcome ids[]":                            {`{"outcome":"worked","ids":["ID"]}`, `{"outcome":"worked","ids":["mall","ID"]}`},
	"memory.judge conversationId":                     {`{"conversationId":"ID"}`},
	"memory.events id":                                {`{"id":"ID"}`},
	"memory.insights conversationId":                  {`{"text":"scales","conversationId":"ID"}`},
	"memory.settle id":                                {`{"id":"ID","with":"mall","resolution":"keep"}`},
	"memory.settle with":                              {`{"id":"mall","with":"ID","resolution":"keep"}`},
	"contexts.put id":                                 {`{"id":"ID","name":"x"}`},
	"contexts.put parentId":                           {`{"name":"x","parentId":"ID"}`},
	"contexts.get ref":                                {`{"ref":"ID"}`},
	"contexts.list parentId":                          {`{"parentId":"ID"}`},
	"contexts.link id":                                {`{"id":"ID","memoryIds":["mall"]}`},
	"contexts.link memoryIds[]":                       {`{"id":"ctx","memoryIds":["ID"]}`},
	"contexts.unlink id":                              {`{"id":"ID","memoryIds":["mall"]}`},
	"contexts.unlink memoryIds[]":                     {`{"id":"ctx","memoryIds":["ID"]}`, `{"id":"ctx","memoryIds":["mall","ID"]}`},
	"contexts.delete id":                              {`{"id":"ID"}`, `{"id":"ID","subtree":true}`},
	"concepts.get ref":                                {`{"ref":"ID"}`},
	"concepts.path from":                              {`{"from":"ID","to":"scales"}`},
	"concepts.path to":                                {`{"from":"Ann","to":"ID"}`},
	"books.get ref":                                   {`{"ref":"ID"}`, `{"ref":"ID","text":true}`},
	"books.get conversationId":                        {`{"ref":"book1","conversationId":"ID"}`, `{"ref":"book2","conversationId":"ID","text":true}`},
	"books.list conversationId":                       {`{"conversationId":"ID"}`},
	"books.search conversationId":                     {`{"query":"scales","conversationId":"ID"}`},
	"books.search query":                              {`{"query":"book:ID scales"}`},
	"books.publish id":                                {`{"id":"ID"}`},
	"books.delete id":                                 {`{"id":"ID"}`},
	"chat.put id":                                     {`{"id":"ID","title":"x"}`},
	"chat.put pinnedNoteIds[]":                        {`{"title":"x","pinnedNoteIds":["ID"]}`, `{"title":"x","pinnedNoteIds":["open","ID"]}`},
	"chat.put pinnedMemoryIds[]":                      {`{"title":"x","pinnedMemoryIds":["ID"]}`},
	"chat.append conversationId":                      {`{"conversationId":"ID","messages":[{"role":"user","content":"x"}]}`},
	"chat.append messages[].clientMessageId":          {`{"conversationId":"chat1","messages":[{"role":"user","content":"about it","clientMessageId":"ID"}]}`},
	"chat.append messages[].content":                  {`{"conversationId":"chat1","messages":[{"role":"user","content":"of ID, as a word"}]}`},
	"chat.append memoryIds[]":                         {`{"conversationId":"chat1","messages":[{"role":"assistant","content":"x"}],"memoryIds":["ID"]}`},
	"chat.send conversationId":                        {`{"stream":false,"conversationId":"ID","text":"x"}`},
	"chat.send clientMessageId":                       {`{"stream":false,"conversationId":"chat1","text":"asked once","clientMessageId":"ID"}`},
	"chat.send replaces":                              {`{"stream":false,"conversationId":"chat1","text":"x","replaces":"ID"}`},
	"chat.send parentId":                              {`{"stream":false,"conversationId":"chat1","text":"x","parentId":"ID"}`},
	"chat.send regenerate":                            {`{"stream":false,"conversationId":"chat1","regenerate":"ID"}`},
	"chat.send mentionedNoteIds[]":                    {`{"stream":false,"conversationId":"chat1","text":"x","mentionedNoteIds":["ID"]}`},
	"chat.send mentionedEntityIds[]":                  {`{"stream":false,"conversationId":"chat1","text":"x","mentionedEntityIds":["ID"]}`},
	"chat.send attachedMemoryIds[]":                   {`{"stream":false,"conversationId":"chat1","text":"x","attachedMemoryIds":["ID"]}`},
	"chat.send actionItems[].id":                      {`{"stream":false,"conversationId":"chat1","text":"x","actionItems":[{"id":"ID","text":"x"}]}`},
	"chat.send actionItems[].entityIds[]":             {`{"stream":false,"conversationId":"chat1","text":"x","actionItems":[{"id":"a","text":"x","entityIds":["ID"]}]}`},
	"chat.cancel conversationId":                      {`{"conversationId":"ID"}`},
	"chat.follow conversationId":                      {`{"conversationId":"ID"}`},
	"chat.get ref":                                    {`{"ref":"ID"}`, `{"ref":"@ID"}`},
	"chat.get branch":                                 {`{"ref":"chat1","branch":"ID"}`},
	"chat.inspect conversationId":                     {`{"conversationId":"ID"}`},
	"chat.search conversationId":                      {`{"query":"scales","conversationId":"ID"}`, `{"query":"","conversationId":"ID"}`},
	"chat.actions conversationId":                     {`{"conversationId":"ID"}`},
	"chat.confirm id":                                 {`{"id":"ID"}`},
	"chat.confirm args":                               {`{"id":"act1","args":{"targetId":"ID"}}`, `{"id":"act3","args":{"entityId":"ID"}}`, `{"id":"act4","args":{"entityIds":["ID","ann"]}}`, `{"id":"act4","args":{"noteId":"ID"}}`},
	"chat.reject id":                                  {`{"id":"ID"}`},
	"chat.patch id":                                   {`{"id":"ID","title":"x"}`},
	"chat.patch pinnedNoteIds[]":                      {`{"id":"chat1","pinnedNoteIds":["open","ID"]}`},
	"chat.patch pinnedMemoryIds[]":                    {`{"id":"chat1","pinnedMemoryIds":["mall","ID"]}`},
	"chat.archive id":                                 {`{"id":"ID"}`},
	"chat.restore id":                                 {`{"id":"ID"}`},
	"chat.export ref":                                 {`{"ref":"ID"}`, `{"ref":"ID","format":"json"}`},
	"chat.delete id":                                  {`{"id":"ID"}`},
	"chat.citations noteId":                           {`{"noteId":"ID"}`, `{"noteId":"ID","all":true}`},
	"chat.highlights messageId":                       {`{"messageId":"ID"}`, `{"messageId":"ID","conversationId":"cites"}`},
	"chat.highlights conversationId":                  {`{"messageId":"cites-m4","conversationId":"ID"}`},
	"chat.suggest conversationId":                     {`{"conversationId":"ID"}`},
	"chat.references conversationId":                  {`{"conversationId":"ID"}`},
	"chat.references messageId":                       {`{"conversationId":"cites","messageId":"ID"}`},
	"intent.route text":                               {`{"text":"/forget ID; /pin ID; /forget @ID","conversationId":"chat1"}`},
	"intent.route conversationId":                     {`{"text":"/pin open; /forget mall","conversationId":"ID"}`},
	"tools.call arguments": {
		`{"name":"read_note","arguments":{"id":"ID"}}`, `{"name":"get_entity","arguments":{"entity":"ID"}}`, `{"name":"explore_graph","arguments":{"record":"ID"}}`,
		`{"name":"query","arguments":{"query":"SELECT p FROM Person p WHERE p.boss = {this}","this":"ID"}}`, `{"name":"create_task","arguments":{"title":"x","note":"ID"}}`,
		`{"name":"create_task","arguments":{"title":"x","entities":["ID"]}}`, `{"name":"assign_entity","arguments":{"entity":"ID","field":"boss","to":"ann"}}`,
		`{"name":"assign_entity","arguments":{"entity":"cid","field":"boss","to":"ID"}}`,
	},
}

// A text that a remote reader writes shows him that @memory:ID in it is masked: none of these writes one, see what remains in
// context/audience/README.md.

// idNames are parameters by which records are named that are not called so.
var idNames = []string{"id", "ids", "ref", "refs", "from", "this", "with", "contexts", "supersedes", "related", "replaces", "regenerate", "branch"}

// withoutID is the id of the record itself in params.
var withoutID = regexp.MustCompile(`"id":"\w+",`)

// ofCall is what an answer says of the time that it took, and ofStore.
var ofCall = regexp.MustCompile(ofStore.String() + `|"stageMs":\{[^}]*\}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// idParams lists the parameters of a method that take ids.
func idParams(m *protocol.Method) (list []string) {
	var walk func(t reflect.Type, at string)
	walk = func(t reflect.Type, at string) {
		switch t.Kind() {
		case reflect.Pointer:
			walk(t.Elem(), at)
		case reflect.Slice:
			walk(t.Elem(), at+"[]")
		case reflect.Struct:
			if value, ok := t.FieldByName("Value"); ok && t.PkgPath() == reflect.TypeFor[protocol.Method]().PkgPath() {
				walk(value.Type, at)
				return
			}
			for f := range fieldsOf(t) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				switch {
				case f.Anonymous:
					walk(f.Type, at)
				case name != "" && name != "-":
					walk(f.Type, strings.TrimPrefix(at+"."+name, "."))
				}
			}
		case reflect.String:
			name := strings.TrimSuffix(at[strings.LastIndex(at, ".")+1:], "[]")
			if slices.Contains(idNames, name) || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") {
				list = append(list, at)
			}
		}
	}
	walk(m.Params, "")
	return list
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// TestPRIV16_APrivateIDIsAnsweredAsAnUnknownOne makes the same calls in two worlds: one has the id of a private record in
// them, the other one that no record has. What is written by them differs in nothing either.
func TestPRIV16_APrivateIDIsAnsweredAsAnUnknownOne(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for _, m := range protocol.Methods {
		for _, param := range idParams(&m) {
			if !m.LocalOnly() && idCalls[m.Name+" "+param] == nil {
				t.Errorf("%s has no entry for %s: say how a remote reader may call it", m.Name, param)
			}
		}
	}
	const s = secrets("Zqcanary")
	records := slices.Concat(publicRecords(true), privateRecords(true), ambiguousRecords)
	ids := []string{
		"psecret", "pfile", "pgone", "pboss", "plone", "pmem", "pmemn", "pctx", privateChat, "pacts", "pacts-m1", "pact1", "pact2", "pcites", "pcites-m1",
		"book3", "book4",
	}
	calls := slices.Sorted(func(yield func(string) bool) {
		for place := range idCalls {
			if !yield(place) {
				return
			}
		}
	})
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			private, unknown := privateWorld(t, s, records...), privateWorld(t, s, records...)
			none, stem := "z"+id[1:], len(id)
			if i := strings.Index(id, "-"); i > 0 { // words of it are shown too
				stem = i
			}
			same := func(what, method, params string) bool {
				got := ofCall.ReplaceAllString(private.answer(method, strings.ReplaceAll(params, "ID", id)), "")
				want := ofCall.ReplaceAllString(unknown.answer(method, strings.ReplaceAll(params, "ID", none)), "")
				want = strings.ReplaceAll(want, none[:stem], id[:stem])
				if got == want {
					return true
				}
				t.Errorf("%s: %s %s\n%s\nbut of an unknown one\n%s", what, method, params, got, want)
				return false
			}
			for _, place := range calls {
				method, _, _ := strings.Cut(place, " ")
				for i, params := range idCalls[place] {
					same(fmt.Sprint(place, i), method, params)
				}
				if place != method+" id" {
					continue
				}
				for _, further := range calls { // what else is wrong is told after the record, or never
					if strings.HasPrefix(further, method+" ") && further != place {
						wrong := strings.ReplaceAll(strings.Trim(idCalls[further][0], "{}"), "ID", "none")
						same(place+" and "+further, method, "{"+withoutID.ReplaceAllString(wrong, "")+`,"id":"ID"}`)
					}
				}
			}
		})
	}
}

// TestPRIV16_TheSameStatementOnBothSides: a private memory and a public one that say the same are two, whoever writes them
// and in whatever order, so that nothing of the public one tells of the other.
func TestPRIV16_TheSameStatementOnBothSides(t *testing.T) {
	notes := []string{`notes.put {"id":"psecret","title":"Plan","private":true}`}
	private := []string{
		`{"statement":"I row on lakes","private":true}`, `{"statement":"I row on lakes","source":{"kind":"user","noteId":"psecret"}}`,
	}
	const public = `{"statement":"I row on lakes"}`
	seen := func(r *remoteReader) string {
		return r.answer("memory.list", `{"status":["active","superseded","archived"]}`) + r.answer("memory.stats", `{}`)
	}
	for name, first := range map[string]bool{"the private one first": true, "the public one first": false} {
		for _, hidden := range private {
			for _, remote := range []bool{false, true} {
				t.Run(fmt.Sprint(name, hidden, remote), func(t *testing.T) {
					with, without := privateWorld(t, "Zqcanary", notes...), privateWorld(t, "Zqcanary", notes...)
					add := func(r *remoteReader) string {
						if remote {
							return r.answer("memory.add", public)
						}
						return fmt.Sprint(at(r.daemon.do("memory.add", public), "duplicate"))
					}
					hide := func() {
						t.Helper()
						with.daemon.want(with.daemon.do("memory.add", hidden), "duplicate", false)
						with.daemon.want(with.daemon.do("memory.add", hidden), "duplicate", true)
					}
					if first {
						hide()
					}
					if got, want := add(with), add(without); got != want {
						t.Errorf("added beside a private one\n%s\nbut alone\n%s", got, want)
					}
					if !first {
						hide()
					}
					if got, want := seen(with), seen(without); got != want {
						t.Errorf("beside a private one\n%s\nbut alone\n%s", got, want)
					}
				})
			}
		}
	}
}

// TestPRIV16_NoProgressOfPrivateRecords: a remote connection is not told that an index reads what is private.
func TestPRIV16_NoProgressOfPrivateRecords(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	l := d.listen("index.progress")
	r := d.remote()
	r.call("s", "events.subscribe", `{"topics":["index.progress","memory.changed"]}`)
	r.wantResult(`"s"`, "")
	d.do("memory.add", `{"statement":"I am allergic to hazelnuts","private":true}`)
	for {
		var p protocol.IndexProgress
		must(t, json.Unmarshal(l.next().params, &p))
		if p.Kind == "memories" && p.Done == p.Total {
			break
		}
	}
	d.do("memory.add", `{"id":"cello","statement":"My sister plays the cello"}`)
	if got := r.line(); !strings.Contains(got, `"ids":["cello"]`) {
		t.Errorf("told %s", got)
	}
}

// TestPRIV16_WhatCannotBeOrderedTellsOfNothingPrivate: why nothing is proposed for a message is private where a remote reader
// would be told another reason, or something would be proposed.
func TestPRIV16_WhatCannotBeOrderedTellsOfNothingPrivate(t *testing.T) {
	d := answered(t, func(_ *provider.Request, to *provider.Reply) { to.Text("Well.") })
	d.do("memory.add", `{"statement":"The keys lie in the blue harbour box","private":true}`)
	d.do("memory.add", `{"statement":"The keys lie in the blue harbour chest","private":true}`)
	d.do("memory.add", `{"statement":"The keys lie in the red hut"}`)
	d.do("notes.put", `{"id":"dup1","title":"Dup","body":"x","private":true}`)
	d.do("notes.put", `{"id":"dup2","title":"Dup","body":"x","private":true}`)
	for text, shown := range map[string]bool{
		"/forget The keys lie in":                   false,
		"/forget The keys lie in\n\nAnd what else?": false,
		"/pin [[Dup]]":                              false,
		"/pin [[Nowhere]]":                          true,
		"/forget @nothing_of_the_kind":              true,
		"/forget":                                   true,
	} {
		id := d.begun()
		d.do("chat.send", fmt.Sprintf(`{"conversationId":%q,"text":%q,"stream":false,"provider":"far"}`, id, text))
		want := 3 // messages
		if shown {
			want = 4
		}
		d.want(d.do("chat.get", fmt.Sprintf(`{"ref":%q,"audience":"remote"}`, id)), "conversation.messages", want)
	}
}
