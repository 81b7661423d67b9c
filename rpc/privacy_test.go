package rpc_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// secrets are the words of a world's private records, one for each place in which a
// record can hold one. All of them begin alike, so that none is missed in an answer.
type secrets string

func (s secrets) of(place string) string { return string(s) + place }

// secretNames fills {place} in a text with the secret of that place.
func (s secrets) fill(text string) string {
	return secretPlace.ReplaceAllStringFunc(text, func(place string) string { return s.of(strings.Trim(place, "{}")) })
}

var secretPlace = regexp.MustCompile(`\{[a-z]+\}`)

// publicRecords are seen by everybody. With links they refer to private records in every
// form; without, they don't know of any.
func publicRecords(links bool) []string {
	link := func(text string) string {
		if links {
			return text
		}
		return "nothing"
	}
	body, _ := json.Marshal("---\naliases: ['" + link("[[{title}]]") + "', Opened]\nref: '" + link("[[{title}|{label}]]") + "'\n---\n# Open " + link("[[{title}]]") + "\n\n" +
		link("Scales: [[{title}]], [[{alias}#{head}|{label}]], ![[{file}]], @{name}, @[{name} Long], @{nick}, `[[{title}]]`, [[{lone}]], "+
			"@pmem_{word}, @memory:pmem, @{word}_context, @{word}, @[{word}], @talk_{word}, @conversation_talk_{word}_message_1, @conv_talk_{word}_msg_a1b2c3, "+
			"[{label}]({folder}/{file}.md), <a href=\"{folder}/{file}.md\">{label}</a>, <a href=\"{folder}/{file}.md\">{label}, [{label}][r]\n\n[r]: {folder}/{file}.md \"{label}\"") +
		"\n\nscales end #hive")
	return []string{
		`types.put {"name":"Person","fields":[{"name":"pay","type":"number"},{"name":"boss","type":"entity_ref"},{"name":"about","type":"text"},` +
			`{"name":"met","type":"text_list"},{"name":"file","type":"note_ref"},{"name":"friend","type":"entity_ref"},` +
			`{"name":"top","type":"computed","query":"SELECT MAX(p.pay) FROM Person p"},` +
			`{"name":"same","type":"computed","query":"SELECT p FROM Person WHERE p.friend = {this}"}]}`,
		`notes.put {"id":"open","body":` + string(body) + `}`,
		`notes.put {"id":"thing","title":"Thing","body":"A thing with scales #hive, see [[Open]]","tags":["hive"]}`,
		`entities.put {"id":"bob","type":"Person","name":"Bob","fields":{"friend":"ann","pay":7}}`,
		`entities.put {"id":"ann","type":"Person","name":"Ann","fields":{"pay":10,"friend":"bob","about":"` + link("see [[{title}]]") + `","met":["` + link("{title}") + `","Bob"]}}`,
		// What the private record is called decides where these would stand in a list.
		`notes.put {"id":"lead","body":"# ` + link("[[{title}]]") + ` leads\n\nscales lead"}`,
		`notes.put {"id":"yard","title":"Yard","body":"` + link("[[{title}]]") + ` scales [[Open]]\n## Of ` + link("[[{title}]]") + `\n- [ ] scales of ` + link("[[{title}|{label}]]") + ` and ` + link("@{name}") + ` [due:: ` + link("[[{title}]]") + `] #hive"}`,
		`notes.put {"id":"handled","title":"Handled ` + link("@pmem_{word}") + `","aliases":["` + link("@talk_{word}") + ` x"],"tags":["` + link("pmem_{word}") + `","hive"],"body":"scales of ` + link("@conv_talk_{word}_msg_1") + `"}`,
		`entities.put {"id":"fay","type":"Person","name":"Fay ` + link("@pmem_{word}") + `","aliases":["` + link("@{word}_context") + ` Fay"],"fields":{"about":"` + link("as @talk_{word} says") + `","met":["` + link("@pmem_{word}") + `","` + link("talk_{word}") + `"]}}`,
		`entities.put {"id":"dee","type":"Person","name":"` + link("[[{title}]]") + ` Dee"}`,
		`entities.put {"id":"yara","type":"Person","name":"[[Yarn]] Yara","noteId":"open"}`,
		`entities.put {"id":"cid","type":"Person","name":"Cid ` + link("[[{title}]]") + `","aliases":["Cid","` + link("[[{alias}]]") + `"]` +
			map[bool]string{true: `,"fields":{"boss":"pboss","file":"psecret"}`}[links] + `}`,
		`contexts.put {"id":"ctx","name":"Plans ` + link("[[{title}]]") + `"}`,
		`memory.add {"id":"mlink","statement":"I wrote ` + link("[[{title}]] with @{name}") + ` once","summary":"` + link("[[{alias}]]") + ` x",` +
			`"questions":["What is ` + link("[[{title}|{label}]]") + ` about?"],"contexts":["ctx"]}`,
		`memory.add {"id":"mall","statement":"` + link("{title}") + `","kind":"goal","tags":["hive"]}`,
		`memory.add {"id":"mhandled","statement":"I meant ` + link("@pmem_{word} and @conv_talk_{word}_msg_1") + ` then","summary":"` + link("@talk_{word}") + ` y",` +
			`"questions":["What is ` + link("@{word}_context") + `?"],"tags":["` + link("pmem_{word}") + `"]}`,
		`contexts.put {"id":"hctx","name":"Ways ` + link("@pmem_{word}") + `","description":"` + link("of @talk_{word}") + `"}`,
		`memory.add {"id":"mold","statement":"Ann lives in Bonn","tags":["hive"]}`,
		`chat.append {"title":"Open talk","messages":[{"role":"user","content":"` + link("[[{title}]] with @{name}") + ` scales"},{"role":"assistant","content":"scales said"}]}`,
		`chat.append {"messages":[{"role":"user","content":"` + link("[[{alias}]]") + ` is what we talk of"}]}`,
		`chat.append {"messages":[{"role":"user","content":"` + link("@pmem_{word}") + ` scales"},{"role":"assistant","content":"` + link("@conversation_talk_{word}_message_1") + ` scales"}]}`,
		`chat.append {"title":"Of ` + link("@talk_{word}") + `","messages":[{"role":"user","content":"` + link("@{word}_context") + ` scales"}]}`,
		`chat.import ` + imported("acts", "Open acts", worldTime, false,
			proposal("act1", "assignEntity", `{"entityId":"ann","field":"boss","targetId":"bob"}`, worldTime),
			proposal("act2", "createTask", `{"title":"`+link("[[{title}]] with @{name}")+`"}`, worldTime),
			proposal("act3", "assignEntity", `{"entityId":"bob","field":"file","targetId":"open"}`, worldTime),
			proposal("act4", "createTask", `{"title":"Open","noteId":"open"}`, worldTime)),
		`chat.import ` + citing("cites", "Open cites "+link("[[{title}]]"), worldTime, false,
			standsOn(slices.Concat([]string{"open", "lead"}, map[bool][]string{true: {"psecret"}}[links]), []string{"thing"}),
			standsOn(map[bool][]string{true: {"pfile"}}[links], []string{"open"}), standsOn([]string{"yard"}, nil),
			excerptsOf(slices.Concat([]string{"open", "thing"}, map[bool][]string{true: {"psecret"}}[links])...)),
		`books.add {"mimeType":"md","title":"Bees ` + link("[[{title}]]") + `","author":"` + link("@{name}") + `","name":"` + link("{title}") + `.md",` +
			`"text":"# Scales ` + link("[[{alias}]]") + `\n\nscales of ` + link("[[{title}]] and @{name}, @pmem_{word}") + `\n\n## Hive\n\nscales again"}`,
		`books.add {"mimeType":"md","conversationId":"` + openChat + `","text":"# Talked\n\nscales of ` + link("[[{title}]]") + `"}`,
	}
}

// worldTime is when a privateWorld begins.
var worldTime = time.Unix(1e9, 0)

// Conversations have ids by their order: openChat, namedChat, handledChat and titledChat are those of publicRecords,
// and privateChat that of privateRecords behind them.
const (
	openChat    = "chat1"
	namedChat   = "chat4"
	handledChat = "chat6"
	titledChat  = "chat9"
	privateChat = "chat11"
)

// privateRecords are those that a remote reader must not know of.
func privateRecords(public bool) []string {
	link := "[[Open]]"
	if !public {
		link = "nobody"
	}
	return []string{
		`notes.put {"id":"psecret","title":"{title}","aliases":["{alias}"],"tags":["{tag}","hive"],"private":true,"body":"---\ntype: {type}\n{field}: {value}\n---\n# {head}\n\nscales {word} ` + link + `"}`,
		`notes.put {"id":"pfile","path":"{folder}/{file}.md","title":"{file}","private":true,"body":"scales scales {word} @Ann"}`,
		`entities.put {"id":"pboss","type":"Person","name":"{name}","aliases":["{nick}","{name} Long"],"private":true,"fields":{"pay":990099.75,"about":"{value}"}}`,
		`entities.put {"id":"plone","type":"Person","name":"{lone}","private":true}`,
		`contexts.put {"id":"pctx","name":"{word}","private":true}`,
		`synonyms.put {"words":["{word}","scales"],"private":true}`,
		`memory.add {"id":"pmem","handle":"pmem_{word}","statement":"{word} is what I like best","tags":["{tag}","hive"],"kind":"goal","importance":1,"private":true}`,
		`chat.append {"title":"{word} talk","messages":[{"role":"user","content":"{word} scales","clientMessageId":"{word}"}],"private":true}` +
			"\n" + `refs.rename {"ref":"{CHAT}","handle":"talk_{word}"}` +
			"\n" + `books.add {"mimeType":"md","conversationId":"{CHAT}","text":"# {word}\n\nscales {value}"}`,
		`chat.import ` + imported("pacts", "{word} acts", worldTime, true,
			proposal("pact1", "assignEntity", `{"entityId":"pboss","field":"boss","targetId":"ann"}`, worldTime),
			proposal("pact2", "createTask", `{"title":"{word}","noteId":"psecret"}`, worldTime)),
		`chat.import ` + citing("pcites", "{word} cites", worldTime, true,
			standsOn([]string{"open", "psecret"}, []string{"thing", "yard"}), standsOn(nil, []string{"thing"}), excerptsOf("open", "psecret")),
		`books.add {"mimeType":"md","private":true,"title":"{title} book","author":"{nick}","name":"{file}.md","text":"# {head}\n\nscales {word} {value}"}`,
	}
}

// ambiguousRecords are names that several records have, private ones among them.
var ambiguousRecords = []string{
	`notes.put {"id":"ptwin","title":"Twin","path":"{folder}/Twin.md","private":true,"body":"scales"}`,
	`notes.put {"id":"twin1","title":"Twin","path":"a/Twin.md","body":"scales"}`,
	`notes.put {"id":"twin2","title":"Twin","path":"b/Twin.md","body":"scales"}`,
	`notes.put {"id":"pair1","title":"One of [[{title}]]","aliases":["Pair"],"body":"scales"}`,
	`notes.put {"id":"pair2","title":"Two of [[{title}|{label}]]","aliases":["Pair"],"body":"scales"}`,
	`notes.put {"id":"ppair","title":"{title} pair","aliases":["Pair"],"private":true,"body":"scales"}`,
	`notes.put {"id":"tagged","title":"Tagged","tags":["{title}","hive"],"body":"scales"}`,
	`notes.put {"id":"lonely","body":"---\naliases: ['[[{lone}]]']\n---\n# Lonely\n\nscales"}`,
	`notes.put {"id":"front","body":"---\nlist: ['{title}', Open]\nmap: {inner: '{alias}'}\nkeys: {'{title}': x}\ndeep: [{a: ['{title}']}]\nplain: {title}\n---\n# Front\n\nscales"}`,
	`entities.put {"id":"noted","type":"Person","name":"Noted","noteId":"psecret"}`,
	`notes.put {"id":"pdouble","title":"{double}","private":true,"body":"scales"}`,
	`notes.put {"id":"double","title":"{double}","body":"scales"}`,
	`entities.put {"id":"ptwain","type":"Person","name":"{twain}","private":true}`,
	`entities.put {"id":"twain","type":"Person","name":"{twain}"}`,
	`notes.put {"id":"pgone","title":"{gone}","private":true,"body":"scales"}`,
	`notes.archive {"id":"pgone"}`,
	`notes.put {"id":"spelled","title":"Spelled","body":"scales [[{title}\u200b]] [[x/{lone}.md]] @**{name}** [[{gone}]]"}`,
	`notes.put {"id":"unsure","title":"Unsure","body":"[[Twin]] [[Pair]] [[Pair|see @{name}]] [[Thing|see @{name}]]"}`,
	`notes.put {"id":"same1","title":"Same [[{title}]]","body":"scales"}`,
	`notes.put {"id":"same2","title":"Same [[{title}]]","body":"scales"}`,
	`entities.put {"id":"ptwine","type":"Person","name":"Twine","private":true}`,
	`entities.put {"id":"twine1","type":"Person","name":"Twine"}`,
	`entities.put {"id":"twine2","type":"Person","name":"One of [[{title}]]","aliases":["Twine"]}`,
	`entities.put {"id":"unmet","type":"Person","name":"Unmet","fields":{"boss":"{file}","file":"{lone}"}}`,
	`memory.add {"id":"pmemn","statement":"{word} is where Ann lives","source":{"kind":"extraction","noteId":"psecret"},"supersedes":["mold"]}`,
	`chat.append {"conversationId":"` + openChat + `","messages":[{"role":"user","content":"{word} {title}","clientMessageId":"{nick}","private":true}]}`,
	`contexts.put {"id":"below","name":"Below","parentId":"pctx"}`,
	`contexts.link {"id":"pctx","memoryIds":["mall"]}`,
	`memory.patch {"id":"mlink","noteIds":["psecret","open"],"entityIds":["pboss","ann"]}`,
	`chat.patch {"id":"` + openChat + `","systemPrompt":"Help with [[{title}]].","pinnedMemoryIds":["pmem","mlink","pmemn"],"pinnedNoteIds":["psecret","yard","pfile"]}`,
}

// remoteReader is a daemon and a remote connection to it.
type remoteReader struct {
	*peer
	daemon *daemon
}

// privateWorld serves records with the words of s.
func privateWorld(t *testing.T, s secrets, records ...string) *remoteReader {
	t.Helper()
	var ticks atomic.Int64 // what was written later is later
	return worldOn(t, s, roomsOptions{Now: func() time.Time { return time.Unix(1e9+ticks.Add(1), 0) }}, rpc.Options{}, records...).remote()
}

// worldOn serves records with the words of s, over rooms with options.
func worldOn(t *testing.T, s secrets, o roomsOptions, with rpc.Options, records ...string) *daemon {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	var named atomic.Int64 // each version is of another machine, so that all are kept
	o.Machine = func() string { return fmt.Sprintf("%smachine%d", s, named.Add(1)) }
	with.Rooms, err = roomsOn(db, o)
	must(t, err)
	d := launch(t, with)
	var conversation string // the last one
	for _, r := range records {
		for call := range strings.SplitSeq(r, "\n") {
			method, params, _ := strings.Cut(call, " ")
			done := d.do(method, strings.ReplaceAll(s.fillParams(params), "{CHAT}", conversation))
			if method == "chat.append" {
				conversation = fmt.Sprint(at(done, "conversationId"))
			}
		}
	}
	return d
}

// fillParams is fill but for {this} of queries.
func (s secrets) fillParams(params string) string {
	return strings.ReplaceAll(s.fill(strings.ReplaceAll(params, "{this}", "{THIS}")), "{THIS}", "{this}")
}

// remote opens a connection for a remote reader.
func (d *daemon) remote() *remoteReader {
	d.t.Helper()
	p := (&bench{t: d.t, path: d.path}).dial()
	p.call("hello", "initialize", `{"clientInfo":{"name":"remote"},"audience":"remote"}`)
	p.wantResult(`"hello"`, "")
	return &remoteReader{p, d}
}

// answer returns what a call is answered, without what a world may differ in.
func (r *remoteReader) answer(method, params string) string {
	r.t.Helper()
	r.call("x", method, params)
	return randomHandle.ReplaceAllString(variable.ReplaceAllString(r.line(), `"$1":0`), `"$1":"$2"`)
}

// randomHandle is the handle of a memory, which ends at random. A report of a prompt has it as a title.
var randomHandle = regexp.MustCompile(`"(handle|title)":"([^"]*)_[0-9a-z]{4,8}"`)

// variable are the members that differ from run to run: times, durations, figures of
// the process, sequence numbers and hashes of them.
var variable = regexp.MustCompile(`"(createdAt|updatedAt|archivedAt|archivedAt|at|ms|us|micros|uptimeMs|seq|pid|freeBytes|totalBytes|journalBytes|snapshotSeq|rssBytes|heapBytes|goroutines|maxUs|p50Us|p99Us|bytesIn|bytesOut|connections|methods|id|number|confidenceAt|tierSince|validTo|lastUsedAt|hash)":("[^"]*"|[0-9.]+|\[[^\]]*\])`)

// attempts are calls of every method by which a remote reader may try to learn of
// private records. A method of the contract without an entry fails the test.
var attempts = map[string][]string{
	"initialize":        {`{"clientInfo":{"name":"again"},"audience":"local"}`},
	"shutdown":          {},
	"notes.put":         {`{"id":"psecret","title":"x"}`, `{"title":"New [[{title}]]","body":"@{name}"}`, `{"title":"y","path":"free.md"}`},
	"notes.patch":       {`{"id":"psecret","title":"x"}`, `{"id":"thing","tags":["hive"]}`, `{"id":"open","tags":["hive"]}`},
	"notes.putMany":     {`{"notes":[{"id":"psecret","title":"x"}]}`},
	"notes.get":         {`{"ref":"open"}`, `{"ref":"thing"}`, `{"ref":"psecret"}`, `{"ref":"{title}"}`, `{"ref":"Thing"}`, `{"ref":"Open {title}"}`, `{"ref":"Twin"}`, `{"ref":"Pair"}`, `{"ref":"unsure"}`, `{"ref":"lead"}`, `{"ref":"tagged"}`, `{"ref":"spelled"}`, `{"ref":"double"}`, `{"ref":"front"}`, `{"ref":"lonely"}`, `{"ref":"handled"}`, `{"ref":"Handled @pmem_{word}"}`, `{"ref":"{folder}/{file}.md"}`},
	"notes.list":        {`{}`, `{"limit":1}`, `{"tag":"{tag}"}`, `{"tag":"hive"}`, `{"folder":"{folder}"}`, `{"type":"{type}"}`, `{"archived":true}`, `{"sort":"updated"}`, `{"vault":"{folder}"}`, `{"changedSince":"2020-01-01"}`},
	"notes.archive":     {`{"id":"psecret"}`},
	"notes.restore":     {`{"id":"psecret"}`},
	"notes.delete":      {`{"id":"psecret"}`},
	"notes.complete":    {`{"prefix":""}`, `{"prefix":"{title}"}`, `{"prefix":"o"}`, `{"prefix":"t","limit":1}`, `{"prefix":"{alias}"}`},
	"notes.resolve":     {`{"link":"[[{title}]]"}`, `{"link":"[[{alias}]]","from":"open"}`, `{"link":"[[Open]]","from":"psecret"}`, `{"link":"[[Thing]]"}`, `{"link":"[[Open {title}]]"}`, `{"link":"[[Twin]]"}`, `{"link":"[[Pair]]"}`},
	"notes.search":      {`{"query":"scales","explain":true}`, `{"query":"{title}"}`, `{"query":"{word}"}`, `{"query":"{label}"}`, `{"query":"scales","filter":{"tags":["{tag}"]}}`, `{"query":"{name}","explain":true}`, `{"query":"{word}:{word} {name}:x lead:{title} vault:{word} type:{word}","explain":true}`, `{"query":"","filter":{"vaults":["{word}"],"types":["{word}"]}}`, `{"query":"pmem_{word} talk_{word} scales","explain":true}`, `{"query":"@pmem_{word}"}`},
	"notes.similar":     {`{"ref":"open"}`, `{"ref":"thing","limit":50}`, `{"ref":"psecret"}`},
	"search.explain":    {`{"ref":"open","query":"scales"}`, `{"ref":"open","query":"{word} {title}"}`, `{"ref":"thing","query":"{name}"}`, `{"ref":"psecret","query":"scales"}`, `{"ref":"{title}","query":"scales"}`},
	"notes.links":       {`{"ref":"open"}`, `{"ref":"unsure"}`, `{"ref":"twin1"}`, `{"ref":"thing"}`, `{"ref":"psecret"}`},
	"tags.list":         {`{}`, `{"prefix":"{tag}"}`},
	"types.put":         {`{"name":"Person","fields":[]}`},
	"types.get":         {`{"ref":"{type}"}`, `{"ref":"Person"}`},
	"types.list":        {`{}`},
	"types.delete":      {`{"name":"Person"}`},
	"entities.put":      {`{"id":"pboss","type":"Person","name":"x"}`, `{"type":"Person","name":"New","fields":{"about":"[[{title}]]"}}`, `{"type":"{type}","name":"New"}`, `{"type":"Thing","name":"New","fields":{"{field}":"x"}}`},
	"entities.patch":    {`{"id":"pboss","name":"x"}`, `{"id":"cid","fields":{"pay":3}}`, `{"id":"cid","fields":{"{field}":"x"}}`},
	"entities.putMany":  {`{"entities":[{"id":"pboss","type":"Person","name":"x"}]}`, `{"entities":[{"type":"{type}","name":"New"}]}`},
	"entities.get":      {`{"ref":"cid"}`, `{"ref":"Twine"}`, `{"ref":"{name}"}`, `{"ref":"{nick}","type":"Person"}`, `{"ref":"{lone}"}`, `{"ref":"Cid [[{title}]]"}`, `{"ref":"Cid {title}"}`, `{"ref":"[[{alias}]]"}`, `{"ref":"{title}","type":"{type}"}`, `{"ref":"cid"}`, `{"ref":"noted"}`, `{"ref":"twain"}`, `{"ref":"cid","resolve":4}`, `{"ref":"ann"}`, `{"ref":"ann","resolve":2}`, `{"ref":"pboss"}`, `{"ref":"bob","resolve":1}`, `{"ref":"unmet"}`, `{"ref":"unmet","resolve":1}`, `{"ref":"fay"}`, `{"ref":"Fay @pmem_{word}"}`},
	"entities.list":     {`{}`, `{"type":"Person","limit":2}`, `{"type":"{type}"}`, `{"archived":true}`},
	"entities.archive":  {`{"id":"pboss"}`},
	"entities.restore":  {`{"id":"pboss"}`},
	"entities.delete":   {`{"id":"pboss"}`},
	"entities.complete": {`{"prefix":""}`, `{"prefix":"{name}"}`, `{"prefix":"c","limit":1}`, `{"prefix":"{nick}"}`},
	"wql.query":         {`{"query":"SELECT t FROM Task t"}`, `{"query":"SELECT COUNT(*) FROM Task t WHERE t.name CONTAINS '{title}'"}`, `{"query":"SELECT MAX(t.heading) FROM vault.Task t"}`, `{"query":"SELECT p FROM Person p"}`, `{"query":"SELECT COUNT(*) FROM Person"}`, `{"query":"SELECT MAX(p.pay) FROM Person p","explain":true}`, `{"query":"SELECT COUNT(*) FROM Person p WHERE p.about LIKE 'see [[%'"}`, `{"query":"SELECT MAX(p.boss.name) FROM Person p"}`, `{"query":"SELECT p FROM {type} p"}`, `{"query":"SELECT p FROM Person p WHERE p.boss.name LIKE '{name}%'"}`, `{"query":"SELECT p FROM Person p WHERE p.met CONTAINS '{title}'"}`, `{"query":"SELECT COUNT(*) FROM Person p WHERE MATCHES '{title}'"}`, `{"query":"SELECT p FROM Person p WHERE MATCHES '{title}'"}`, `{"query":"SELECT p FROM Person p ORDER BY p.name"}`, `{"query":"SELECT p FROM Person p","this":"pboss"}`},
	"wql.check":         {`{"query":"SELECT p FROM {type}x"}`, `{"query":"SELECT p FROM Person p WHERE p.boss = {name}"}`, `{"query":"SELECT p FROM Nothing"}`},
	"graph.neighbors":   {`{"ref":"cid","depth":4,"fields":16}`, `{"ref":"open","depth":4}`, `{"ref":"pboss"}`, `{"ref":"ann","depth":2,"fields":16}`},
	"graph.path":        {`{"from":"cid","to":"pboss"}`, `{"from":"open","to":"thing"}`, `{"from":"cid","to":"ann","ways":4,"fields":16}`},
	"graph.stats":       {`{}`},
	"context.assemble": {
		`{"text":"@pmem_{word} #1 #2 #3 @{word}_context @{word} @{tag}_tag @hive_tag @memory:pmem and @Plans [[{title}]]","searchNotes":8}`,
		`{"text":"@plans_context @{name}_person_entity @below_context conv_{word}_talk_1a2b_msg_1 @ctx @{name}","format":"xml","memories":10}`,
		`{"text":"@Cid @Ann [[Thing]] scales","searchNotes":8,"explain":true}`, `{"text":"@{name} [[{title}]] @[{name} Long] @{nick}"}`, `{"mentionedEntityIds":["pboss","cid","ann"],"mentionedNoteIds":["psecret","open"],"format":"xml","maxDepth":4}`, `{"text":"@Bob","audience":"local"}`, `{"text":"[[Twin]] [[Pair]] @Twine"}`, `{"actionItems":[{"id":"a","text":"x","entityIds":["pboss","ann"]}]}`, `{"attachedMemoryIds":["pmem","mlink","mall","pmemn","mold"]}`, `{"attachedMemoryIds":["mlink","pmem"],"format":"xml"}`, `{"text":"{name} scales of Ann and Cid","memories":20}`, `{"text":"what of {title}?","memories":20,"format":"xml","conversationId":"{name}"}`,
		`{"text":"{name} scales","recall":{"mode":"both"},"conversationId":"` + openChat + `"}`, `{"text":"{title}","recall":{"mode":"passive"},"conversationId":"` + privateChat + `"}`,
		`{"text":"what of it?","memories":5,"conversationId":"` + openChat + `"}`, `{"conversationId":"` + openChat + `","format":"xml","mentionedNoteIds":["open"]}`, `{"text":"scales of {title}","passages":8,"conversationId":"` + openChat + `"}`, `{"text":"scales {word}","passages":8,"format":"xml","conversationId":"` + privateChat + `"}`, `{"conversationId":"` + privateChat + `"}`,
		`{"text":"and why is it?","searchNotes":8,"memories":5,"history":[{"role":"user","text":"what about [[{title}]], @[{name}] and @{name}?"},{"role":"assistant","text":"See [[{title}|it]] and [[Thing]], @Ann."}]}`,
		`{"text":"compare it with [[Thing]]","searchNotes":8,"format":"xml","history":[{"role":"user","text":"scales of @Cid"},{"role":"assistant","text":"[[{title}]] @[{name}] says {word}"},{"role":"user","text":"thanks"}]}`,
		`{"text":"and the scales?","searchNotes":8,"explain":true,"conversationId":"` + openChat + `"}`, `{"text":"and why?","searchNotes":8,"conversationId":"` + privateChat + `"}`,
	},
	"context.recent": {`{"limit":50}`, `{"audience":"local"}`},
	"refs.gather": {
		`{"text":"@pmem_{word} #1 #2 #3 @{word}_context @{word} @{tag}_tag @hive_tag @memory:pmem and @Plans [[{title}]]"}`,
		`{"text":"@plans_context @{name}_person_entity @below_context @conv_{word}_talk_1a2b_msg_1 @ctx @{name} @[{name} Long] @{nick}","format":"xml"}`,
		`{"text":"@Cid @Ann {name} scales of {title}","k":20,"format":"pkb","conversationId":"` + privateChat + `"}`,
		`{"text":"{word} statement","attachedMemoryIds":["pmem","mlink","mall","pmemn","mold"],"format":"pkb","conversationId":"` + openChat + `"}`,
		`{"text":"@pmem_{word}","audience":"local"}`,
	},
	"refs.resolve": {
		`{"refs":["@pmem_{word}","pmem","pctx","pboss","psecret","plone","@{word}_context","@{word}","@{name}","@[{name} Long]","{nick}","{lone}","[[{title}]]","[[{alias}]]"]}`,
		`{"refs":["@{tag}_tag","@hive_tag","{word}_domain","@{name}_person_entity","{title}","{label}","@Plans {title}","@Plans [[{title}]]","Cid {title}","Cid [[{title}]]"]}`,
		`{"refs":["mlink","mall","mold","ctx","cid","ann","open","@Twain","@{twain}","@below_context","below","[[Twin]]","[[Pair]]","[[{double}]]","{gone}"]}`,
		`{"refs":["` + privateChat + `","@{word}_talk_1a2b","conv_{word}_talk_1a2b_msg_1","@memory:pmem","@mem:mlink","@ctxx","@anm","@Openn"],"limit":1}`,
		`{"ref":"@hive_tag"}`, `{"ref":"@pmem_{word}"}`, `{"ref":"@pmem_{word}","audience":"local"}`,
	},
	"refs.parse":      {`{"text":"@pmem_{word} and [[{title}]] of @{name}, #1"}`},
	"refs.rename":     {`{"ref":"pmem_{word}","handle":"taken"}`, `{"ref":"{word}_context","handle":"taken"}`, `{"ref":"` + privateChat + `","handle":"taken"}`, `{"ref":"{name}","handle":"taken"}`, `{"ref":"mlink","handle":"fine_handle"}`, `{"ref":"` + namedChat + `","handle":"fine_talk"}`},
	"refs.complete":   {`{"prefix":"","limit":50}`, `{"prefix":"#"}`, `{"prefix":"pmem_{word}"}`, `{"prefix":"{word}"}`, `{"prefix":"{name}"}`, `{"prefix":"{nick}"}`, `{"prefix":"{title}"}`, `{"prefix":"{tag}"}`, `{"prefix":"","kinds":["context","conversation"],"limit":1}`, `{"prefix":"","kinds":["entity","tag"],"limit":3}`},
	"memory.add":      {`{"id":"pmem","statement":"x"}`, `{"statement":"About [[{title}]]"}`, `{"statement":"x","noteIds":["psecret"]}`, `{"statement":"x","source":{"kind":"user","noteId":"psecret"}}`, `{"statement":"x","entityIds":["pboss"]}`, `{"statement":"x","contexts":["pctx"]}`, `{"statement":"x","supersedes":["pmem"]}`, `{"statement":"@{name} and @[{name} Long] met"}`},
	"memory.addMany":  {`{"memories":[{"id":"pmem","statement":"x"}]}`, `{"memories":[{"statement":"y"},{"statement":"x","supersedes":["pmem"]}]}`},
	"memory.get":      {`{"ref":"pmem"}`, `{"ref":"pmemn"}`, `{"ref":"pmem_{word}"}`, `{"ref":"mlink"}`, `{"ref":"mall"}`, `{"ref":"mold"}`, `{"ref":"mhandled"}`},
	"memory.list":     {`{}`, `{"limit":1}`, `{"tags":["{tag}"]}`, `{"contexts":["pctx"]}`, `{"entityIds":["pboss"]}`, `{"status":["superseded","retracted"]}`, `{"sort":"quality"}`},
	"memory.versions": {`{"ref":"pmem"}`, `{"ref":"mlink"}`},
	"memory.patch":    {`{"id":"pmem","statement":"x"}`, `{"id":"mlink","noteIds":["psecret"]}`, `{"id":"mall","contexts":["pctx"]}`, `{"match":"{word}","pinned":true}`},
	"memory.archive":  {`{"id":"pmem"}`},
	"memory.restore":  {`{"id":"pmem"}`, `{"id":"pmem","version":1}`},
	"memory.retract":  {`{"id":"pmem"}`},
	"memory.delete":   {`{"id":"pmem","force":true}`},
	"memory.forget":   {`{"all":true}`},
	"memory.export":   {`{"path":"/nowhere/m"}`},
	"memory.import":   {`{"path":"/nowhere"}`, `{"path":"/nowhere","dryRun":true}`},
	"memory.use":      {`{"ids":["pmem"]}`},
	"memory.outcome": {
		`{"outcome":"worked","conversationId":"` + openChat + `"}`, `{"outcome":"failed","conversationId":"` + privateChat + `","takeaway":"x of [[{title}]]"}`,
		`{"outcome":"worked","conversationId":"` + openChat + `","related":["pmem","1"]}`, `{"outcome":"worked","takeaway":"@{name} said so"}`,
		`{"ids":["pmem"],"outcome":"worked"}`, `{"ids":["mlink","mall"],"outcome":"failed"}`, `{"ids":["mlink","pmem"],"outcome":"worked"}`,
	},
	"memory.judge":     {`{"conversationId":"` + openChat + `"}`, `{"conversationId":"` + privateChat + `"}`, `{"conversationId":"` + namedChat + `"}`},
	"memory.promote":   {`{"dryRun":true}`, `{}`},
	"memory.upkeep":    {`{"dryRun":true}`, `{}`, `{"undo":"x"}`},
	"memory.conflicts": {`{}`, `{"limit":1}`},
	"memory.settle":    {`{"id":"pmem","with":"mlink","resolution":"keep"}`, `{"id":"mlink","with":"pmem","resolution":"both"}`, `{"id":"mlink","with":"mall","resolution":"keep"}`},
	"memory.events":    {`{}`, `{"id":"pmem"}`, `{"id":"mlink"}`, `{"limit":1}`, `{"audience":"local"}`},
	"memory.search":    {`{"query":"{word}"}`, `{"query":"What about {title}?","limit":50,"explain":true}`, `{"query":"{name} {plain}","stages":{"newest":false,"recent":true,"diversity":true},"explain":true}`, `{"query":"statement","status":["superseded","deprecated","archived"]}`, `{"query":"{tag}","asOf":"2030-01-01T00:00:00Z"}`, `{"query":"x","tags":["{tag}"],"contexts":["pctx"]}`, `{"query":"x","entityIds":["pboss"]}`, `{"query":"{title} {name}","kinds":["messages"],"limit":50,"explain":true}`, `{"query":"{word}","inConversation":"` + privateChat + `"}`, `{"query":"scales {word}","kinds":["passages"],"limit":50,"explain":true}`, `{"query":"scales","kinds":["passages","memories"],"inConversation":"` + privateChat + `"}`},
	"memory.similar":   {`{"ref":"pmem"}`, `{"ref":"mlink","limit":50}`, `{"ref":"mall"}`},
	"memory.profile":   {`{}`},
	"memory.stats":     {`{}`},
	"concepts.list":    {`{"limit":500}`, `{"limit":500,"sort":"recent"}`, `{"limit":500,"sort":"oldest","since":"2020-01-01T00:00:00Z"}`},
	"concepts.get":     {`{"ref":"{word}"}`, `{"ref":"{title}"}`, `{"ref":"{name}"}`, `{"ref":"{tag}"}`, `{"ref":"Ann"}`, `{"ref":"scales"}`},
	"concepts.path": {
		`{"from":"{name}","to":"{title}"}`, `{"from":"Ann","to":"scales"}`, `{"from":"Ann","to":"{word}"}`, `{"from":"{tag}","to":"Cid"}`,
	},
	"memory.effectiveness": {`{"task":"{word}"}`, `{"task":"the {name} and the {title} of scales"}`},
	"memory.insights":      {`{"text":"What of {title} and of {name}?"}`, `{"text":"the scales and the {word}","conversationId":"` + privateChat + `"}`},

	"synonyms.put":    {`{"words":["scales","hive"]}`, `{"words":["x","y"],"private":true}`},
	"synonyms.list":   {`{}`},
	"synonyms.delete": {`{"words":["{word}"]}`, `{"words":["scales"]}`},
	"contexts.put":    {`{"id":"pctx","name":"x"}`, `{"name":"x","parentId":"pctx"}`},
	"contexts.get":    {`{"ref":"pctx"}`, `{"ref":"ctx"}`, `{"ref":"hctx"}`, `{"ref":"{word}_context"}`, `{"ref":"below"}`},
	"contexts.list":   {`{}`, `{"tree":true}`, `{"parentId":"pctx"}`},
	"contexts.delete": {`{"id":"pctx"}`},
	"contexts.link":   {`{"id":"pctx","memoryIds":["mlink"]}`, `{"id":"ctx","memoryIds":["pmem"]}`},
	"contexts.unlink": {`{"id":"ctx","memoryIds":["pmem"]}`},
	"chat.append": {
		`{"conversationId":"` + privateChat + `","messages":[{"role":"user","content":"x"}]}`, `{"messages":[{"role":"user","content":"x","clientMessageId":"{word}"}]}`,
		`{"conversationId":"` + openChat + `","messages":[{"role":"user","content":"about [[{title}]]","clientMessageId":"{nick}"}]}`,
		`{"conversationId":"` + openChat + `","messages":[{"role":"user","content":"hidden","private":true}]}`,
		`{"conversationId":"` + openChat + `","messages":[{"role":"assistant","content":"x"}],"memoryIds":["mlink"]}`,
		`{"conversationId":"` + openChat + `","messages":[{"role":"assistant","content":"x"}],"memoryIds":["pmem"]}`,
	},
	"chat.put": {
		`{"title":"About [[{title}]]","systemPrompt":"about [[{title}]]","pinnedMemoryIds":["mlink"],"pinnedNoteIds":["yard"]}`,
		`{"pinnedMemoryIds":["pmem"]}`, `{"pinnedNoteIds":["psecret"]}`,
	},
	"chat.send": {
		`{"stream":false,"conversationId":"` + openChat + `","text":"scales"}`, `{"stream":false,"conversationId":"` + privateChat + `","text":"x"}`,
		`{"stream":false,"conversationId":"` + openChat + `","text":"x","mentionedNoteIds":["psecret"],"attachedMemoryIds":["pmem"],"mentionedEntityIds":["pboss"]}`,
		`{"stream":false,"conversationId":"` + openChat + `","regenerate":"pmem"}`, `{"stream":false,"text":"x","clientMessageId":"{word}"}`,
	},
	"chat.cancel": {`{"conversationId":"` + privateChat + `"}`, `{"conversationId":"` + openChat + `"}`},
	"chat.follow": {`{"conversationId":"` + privateChat + `"}`, `{"conversationId":"` + openChat + `"}`, `{"conversationId":"` + openChat + `","stop":true}`},
	"chat.get":    {`{"ref":"` + openChat + `"}`, `{"ref":"` + openChat + `","limit":1}`, `{"ref":"` + namedChat + `"}`, `{"ref":"` + handledChat + `"}`, `{"ref":"` + titledChat + `"}`, `{"ref":"` + privateChat + `"}`},
	"chat.inspect": {
		`{"conversationId":"` + openChat + `"}`, `{"conversationId":"` + openChat + `","index":2}`, `{"conversationId":"` + openChat + `","index":1}`, `{"conversationId":"` + namedChat + `"}`,
		`{"conversationId":"` + privateChat + `"}`,
	},
	"chat.list": {`{}`, `{"limit":1}`, `{"archived":true}`},
	"chat.search": {
		`{"query":"pmem_{word} talk_{word}"}`, `{"query":"@{word}_context","explain":true}`,
		`{"query":"scales {word}","explain":true}`,
		`{"query":"scales"}`, `{"query":"talk","limit":1}`, `{"query":"{word}"}`, `{"query":"{title}"}`, `{"query":"{alias}"}`, `{"query":"{name} scales role:user"}`,
		`{"query":"scales","conversationId":"` + privateChat + `"}`, `{"query":"","conversationId":"` + openChat + `","archived":true}`, `{"query":"{word}:{word} tier:x"}`,
	},
	"chat.actions": {`{}`, `{"limit":1}`, `{"conversationId":"acts"}`, `{"conversationId":"pacts"}`},
	"chat.confirm": {
		`{"id":"pact1"}`, `{"id":"act1","args":{"targetId":"pboss"}}`, `{"id":"act3","args":{"targetId":"psecret"}}`, `{"id":"act3","args":{"entityId":"pboss"}}`,
		`{"id":"act3","args":{"field":"{field}"}}`, `{"id":"act4","args":{"entityIds":["pboss","ann"],"noteId":"psecret"}}`, `{"id":"act1"}`, `{"id":"act1"}`,
	},
	"intent.route": {
		`{"text":"/forget pmem_{word}"}`, `{"text":"/forget {word}"}`, `{"text":"/forget what {name} said of {title}"}`, `{"text":"/forget #1; /forget #2; /forget #3; /forget mlink; /forget mall"}`,
		`{"text":"/pin [[{title}]]; /pin [[{alias}]]; /pin pmem; /pin pmem_{word}; /pin @{word}_context; /pin @{name}; /pin open; /pin mlink","conversationId":"` + openChat + `"}`,
		`{"text":"/pin open","conversationId":"` + privateChat + `"}`, `{"text":"Remember that [[{title}]] is due; /search {word}"}`,
	},
	"chat.reject":  {`{"id":"pact2"}`, `{"id":"act2"}`, `{"id":"act1"}`},
	"chat.patch":   {`{"id":"` + privateChat + `","title":"x"}`, `{"id":"` + openChat + `","title":"About [[{title}]]"}`, `{"id":"` + namedChat + `","private":false}`, `{"id":"` + openChat + `","pinnedMemoryIds":["mall"],"pinnedNoteIds":["open"]}`, `{"id":"` + namedChat + `","ifVersion":1,"pinnedMemoryIds":["pmem"]}`},
	"chat.archive": {`{"id":"` + privateChat + `"}`},
	"chat.restore": {`{"id":"` + privateChat + `"}`},
	"chat.import":  {`{"path":"/nowhere"}`},
	"chat.delete":  {`{"id":"` + privateChat + `"}`},
	"tools.list":   {`{"write":true}`},
	"tools.call": {
		`{"name":"read_note","arguments":{"id":"open"}}`, `{"name":"read_note","arguments":{"id":"front"}}`, `{"name":"read_note","arguments":{"id":"psecret"}}`, `{"name":"read_note","arguments":{"id":"[[{title}]]"}}`,
		`{"name":"read_note","arguments":{"path":"{folder}/{file}.md"}}`, `{"name":"read_note","arguments":{"id":"Twin"}}`, `{"name":"read_note","arguments":{"id":"Pair"}}`, `{"name":"read_note","arguments":{"id":"open","heading":"{head}"}}`, `{"name":"read_note","arguments":{"id":"lonly"}}`,
		`{"name":"find_excerpts","arguments":{"query":"scales {title}"}}`, `{"name":"find_excerpts","arguments":{"query":"{word}","limit":20}}`, `{"name":"search_notes","arguments":{"query":"scales {word} lead:{title}"}}`, `{"name":"search_notes","arguments":{"query":"{title}"}}`,
		`{"name":"get_entity","arguments":{"entity":"cid","depth":3}}`, `{"name":"get_entity","arguments":{"entity":"{name}"}}`, `{"name":"get_entity","arguments":{"entity":"Twine"}}`, `{"name":"get_entity","arguments":{"entity":"pboss"}}`, `{"name":"get_entity","arguments":{"entity":"unmet"}}`,
		`{"name":"explore_graph","arguments":{"record":"cid","depth":4}}`, `{"name":"explore_graph","arguments":{"record":"{title}"}}`, `{"name":"explore_graph","arguments":{"record":"open","depth":4,"kinds":["note"]}}`,
		`{"name":"query","arguments":{"query":"SELECT p FROM Person p ORDER BY p.pay, p.about, p.met, p.boss.name, p.file, p.top, p.same"}}`, `{"name":"query","arguments":{"query":"SELECT p FROM {type} p"}}`, `{"name":"query","arguments":{"query":"SELECT p FROM Person p WHERE p.boss = {this}","this":"{name}"}}`, `{"name":"query","arguments":{"query":"SELECT MAX(p.boss.name) FROM Person p"}}`,
		`{"name":"search_memory","arguments":{"query":"{word} scales of {title}","limit":50}}`, `{"name":"search_memory","arguments":{"query":"scales","kinds":["messages"],"limit":50}}`,
		`{"name":"create_task","arguments":{"title":"x","entities":["{name}"]}}`, `{"name":"create_task","arguments":{"title":"x","note":"psecret"}}`, `{"name":"create_task","arguments":{"title":"x","note":"open","entities":["cid","ann"]}}`,
		`{"name":"assign_entity","arguments":{"entity":"cid","field":"boss","to":"{name}"}}`, `{"name":"assign_entity","arguments":{"entity":"cid","field":"file","to":"open"}}`, `{"name":"assign_entity","arguments":{"entity":"pboss","field":"boss","to":"ann"}}`,
		`{"name":"{word}"}`, `{"name":"query","arguments":{"query":"SELECT COUNT(*) FROM Person"},"audience":"local"}`,
	},
	"chat.providers": {`{}`, `{"probe":true}`},
	"chat.stats":     {`{}`, `{"limit":1}`, `{"since":"2000-01-01"}`},
	"chat.citations": {
		`{"noteId":"open"}`, `{"noteId":"open","limit":1,"all":true}`, `{"noteId":"thing"}`, `{"noteId":"yard"}`, `{"noteId":"lead"}`, `{"noteId":"psecret"}`, `{"noteId":"pfile"}`,
	},
	"chat.references": {
		`{"conversationId":"` + openChat + `"}`, `{"conversationId":"` + openChat + `","index":1}`, `{"conversationId":"` + namedChat + `"}`, `{"conversationId":"` + handledChat + `","all":true}`,
		`{"conversationId":"cites"}`, `{"conversationId":"cites","all":true}`, `{"conversationId":"cites","limit":1}`, `{"conversationId":"cites","index":2}`, `{"conversationId":"cites","messageId":"cites-m1"}`,
		`{"conversationId":"` + privateChat + `"}`, `{"conversationId":"pcites"}`, `{"conversationId":"cites","messageId":"pcites-m1"}`,
	},
	"chat.suggest": {
		`{"conversationId":"cites","limit":50}`, `{"conversationId":"` + openChat + `","limit":50}`, `{"conversationId":"` + namedChat + `"}`, `{"conversationId":"` + handledChat + `","limit":50}`, `{"conversationId":"` + titledChat + `"}`,
		`{"conversationId":"` + privateChat + `"}`, `{"conversationId":"pcites","limit":50}`, `{"conversationId":"{word}"}`, `{"conversationId":"cites","audience":"local"}`,
	},
	"chat.highlights": {
		`{"messageId":"cites-m4"}`, `{"messageId":"cites-m4","conversationId":"cites"}`, `{"messageId":"cites-m1"}`, `{"messageId":"pcites-m1"}`, `{"messageId":"pcites-m3"}`, `{"messageId":"cites-m4","audience":"local"}`,
	},
	"chat.graph": {`{}`, `{"nodes":2}`, `{"format":"dot"}`, `{"format":"svg"}`},
	"chat.export": {
		`{"ref":"` + openChat + `"}`, `{"ref":"` + openChat + `","format":"json"}`, `{"ref":"` + namedChat + `","format":"json"}`, `{"ref":"` + handledChat + `"}`, `{"ref":"` + titledChat + `","format":"json"}`, `{"ref":"` + privateChat + `"}`,
	},
	"books.add": {`{"text":"# {head}\n\nscales {word} {value}","mimeType":"md"}`},
	"books.get": {
		`{"ref":"book1"}`, `{"ref":"book1","text":true}`, `{"ref":"book1","section":"Hive"}`, `{"ref":"book1","section":"Scales {alias}"}`,
		`{"ref":"book2","conversationId":"` + openChat + `","text":true}`, `{"ref":"book3","text":true}`, `{"ref":"book3","section":"{head}"}`,
		`{"ref":"book4","conversationId":"` + privateChat + `","text":true}`,
	},
	"books.list": {`{}`, `{"state":"ready","limit":1}`, `{"conversationId":"` + openChat + `"}`, `{"conversationId":"` + privateChat + `"}`},
	"books.search": {
		`{"query":"scales","limit":50}`, `{"query":"{word} {title} {name}"}`, `{"query":"scales","conversationId":"` + openChat + `","limit":50}`,
		`{"query":"scales","conversationId":"` + privateChat + `","limit":50}`, `{"query":"book:{title} scales"}`,
	},
	"books.publish": {`{"id":"book3"}`, `{"id":"book4"}`, `{"id":"book1"}`},
	"books.delete":  {`{"id":"book3"}`, `{"id":"book4"}`},

	"personality.list":     {`{}`},
	"personality.get":      {`{}`, `{"ref":"default"}`},
	"personality.put":      {`{"template":"identity: {name: X}\ncommunication: {tone: warm}\n"}`},
	"personality.activate": {`{"id":"default"}`},
	"personality.delete":   {`{"id":"x"}`},
	"personality.validate": {`{"template":"identity: {name: X}\n"}`},
	"personality.export":   {`{}`},
	"personality.import":   {`{"text":"x"}`},

	"privacy.list":       {`{}`, `{"id":"psecret"}`, `{"id":"open"}`},
	"privacy.prose":      {`{}`, `{"id":"psecret"}`},
	"vault.import":       {`{"path":"/nowhere"}`},
	"vault.list":         {`{}`},
	"vault.status":       {`{}`},
	"vault.unresolved":   {`{}`},
	"vault.problems":     {`{}`, `{"limit":1}`},
	"vault.history":      {`{}`, `{"limit":1}`},
	"vault.undo":         {`{"id":"x"}`},
	"vault.planRename":   {`{"kind":"note","path":"Secret.md","new":"x"}`},
	"vault.checkNote":    {`{"path":"Secret.md"}`},
	"vault.unwatch":      {`{"vault":"x"}`},
	"vault.forget":       {`{"vault":"x"}`},
	"events.subscribe":   {`{"topics":["notes.changed"]}`},
	"events.unsubscribe": {`{"topics":["notes.changed"]}`},
	"sync.status":        {`{}`},
	"sync.remove":        {`{"machine":2}`},
	"sync.leave":         {`{}`},
	"sync.conflicts":     {`{}`},
	"sync.settle":        {`{"number":1,"keep":"theirs"}`},
	"admin.health":       {`{}`},
	"admin.stats":        {`{}`},
	"admin.connections":  {},
	"admin.compact":      {`{}`},
	"admin.backup":       {`{"path":"/nowhere/b"}`},
	"admin.restore":      {`{"path":"/nowhere/b"}`},
	"admin.reindex":      {`{}`},
	"admin.check":        {`{}`},
	"admin.stop":         {`{}`},
	"rpc.discover":       {},
}

// TestPRIV5_NoMethodTellsOfPrivateRecords calls every method as a remote reader, over
// records with canaries in every field and every form of link.
func TestPRIV5_NoMethodTellsOfPrivateRecords(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, slices.Concat(publicRecords(true), privateRecords(true), ambiguousRecords)...)
	// A prompt for a local reader is kept, and not told to a remote one.
	r.daemon.do("context.assemble", `{"text":"@Zqcanaryname","audience":"local","conversationId":"Zqcanaryconversation"}`)
	r.tells(s, func(*protocol.Method) bool { return true })
	for name := range attempts {
		if protocol.Lookup(name) == nil {
			t.Errorf("%s is no method", name)
		}
	}
}

// TestPRIV5_WhatBecomesPrivateIsGone: nothing that was kept of records while they were
// public is told when they are private. What is answered then is what is answered over
// records that were private from the beginning.
func TestPRIV5_WhatBecomesPrivateIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const s = secrets("Zqcanary")
	private := slices.Concat(publicRecords(true), privateRecords(true), ambiguousRecords)
	public := slices.Clone(private)
	var hide []string // patches
	for i, r := range private {
		public[i] = strings.Replace(r, `"private":true`, `"private":false`, 1)
		if public[i] == r {
			continue
		}
		method, params, _ := strings.Cut(r, " ")
		if method == "synonyms.put" { // a set stays what it is
			public[i] = r
			continue
		}
		if method == "chat.append" { // a message of a conversation stays what it is
			if strings.Contains(params, `"conversationId"`) {
				public[i] = r
			} else {
				hide = append(hide, `chat.patch {"id":"`+privateChat+`","private":true}`)
			}
			continue
		}
		if method == "books.add" { // the same book, which is private from then on
			hide = append(hide, r)
			continue
		}
		id := regexp.MustCompile(`"id":"(\w+)"`).FindStringSubmatch(params)[1]
		if method == "contexts.put" {
			hide = append(hide, r)
			continue
		}
		method = strings.Replace(strings.Replace(method, ".put", ".patch", 1), "memory.add", "memory.patch", 1)
		hide = append(hide, method+` {"id":"`+id+`","private":true}`)
	}
	reads := func(m *protocol.Method) bool { return m.Mode == protocol.Read && m.Name != "context.recent" }
	for last, order := range map[string]func(a, b string) int{
		"entities last": func(a, b string) int { return strings.Compare(b, a) },
		"notes last":    strings.Compare,
	} {
		t.Run(last, func(t *testing.T) {
			r := privateWorld(t, s, public...)
			for _, name := range protocol.Names() {
				for _, params := range attempts[name] {
					if reads(protocol.Lookup(name)) {
						r.raw(name, s.fillParams(params))
					}
				}
			}
			for _, patch := range slices.SortedFunc(slices.Values(hide), order) {
				method, params, _ := strings.Cut(patch, " ")
				r.daemon.do(method, s.fillParams(params))
			}
			r.tells(s, reads)
			before := privateWorld(t, s, private...)
			for _, name := range protocol.Names() {
				for _, params := range attempts[name] {
					if !reads(protocol.Lookup(name)) || strings.HasPrefix(name, "admin.") {
						continue
					}
					params = s.fillParams(params)
					got := ofStore.ReplaceAllString(r.answer(name, params), "")
					want := ofStore.ReplaceAllString(before.answer(name, params), "")
					if got != want {
						t.Errorf("%s %s\n%s\nbut of records that were private before\n%s", name, params, got, want)
					}
				}
			}
		})
	}
}

// ofStore is what an answer says of the secret of a store, of what was asked before, of its times, and of whether what is
// found in the background was there in time.
var ofStore = regexp.MustCompile(`"why":"(?:no embedder is configured|what the last turns find is not there yet[^"]*)"|changed: [0-9T:Z-]+| b=\\"[\w-]+\\"|"hash":"\w+"|"cached(Program|Result)":(true|false)|"timings":\{[^}]*\}`)

// tells calls the methods that some chooses, and fails the test for what is told that is
// private.
func (r *remoteReader) tells(s secrets, some func(*protocol.Method) bool) {
	t := r.t
	t.Helper()
	told := regexp.MustCompile(`(?i)` + string(s) + `\w*|990099\.75|"(psecret|pfile|pboss|plone|ptwin|ptwine|ppair|pdouble|ptwain|pgone)"`)
	for _, name := range protocol.Names() {
		calls, known := attempts[name]
		if !known {
			t.Errorf("%s has no entry: say how a remote reader may call it", name)
		}
		if !some(protocol.Lookup(name)) {
			continue
		}
		for _, params := range calls {
			params = s.fillParams(params)
			got := r.raw(name, params)
			said := strings.ToLower(params + everSaid[name])
			for _, found := range told.FindAllString(got, -1) {
				if !strings.Contains(said, strings.ToLower(found)) { // what he said comes back to the one who said it
					t.Errorf("%s %s: %q in\n%s", name, params, found, got)
				}
			}
		}
	}
}

// TestPRIV6_APrivateEntityOfAPublicNote: the note is shown, and nothing says that an
// entity was made from it.
func TestPRIV6_APrivateEntityOfAPublicNote(t *testing.T) {
	r := privateWorld(t, "Zqcanary", publicRecords(true)...)
	r.daemon.do("notes.put", `{"id":"typed","body":"---\ntype: Person\n---\n# Typed\n\nscales"}`)
	entity := r.daemon.do("notes.get", `{"ref":"typed"}`)["entityId"].(string)
	r.daemon.do("entities.patch", `{"id":"`+entity+`","private":true}`)
	for call, want := range map[string]string{
		`notes.get {"ref":"typed"}`:                                     `"id":"typed"`,
		`notes.list {"type":"Person"}`:                                  `"notes":[`,
		`notes.search {"query":"scales","filter":{"types":["Person"]}}`: `"hits":[`,
		`context.assemble {"text":"[[Typed]]"}`:                         `Typed`,
		`graph.neighbors {"ref":"typed","depth":2}`:                     `"id":"typed"`,
		`entities.list {"type":"Person"}`:                               `"entities":[`,
	} {
		method, params, _ := strings.Cut(call, " ")
		got := r.raw(method, params)
		if strings.Contains(got, entity) || !strings.Contains(got, want) {
			t.Errorf("%s: %s", call, got)
		}
		if strings.Contains(params, "Person") && strings.Contains(got, `"typed"`) {
			t.Errorf("%s: a note by the type of a private entity: %s", call, got)
		}
	}
}

// TestPRIV6_PropertiesOfPrivateNotes: no note is found by a private name in a property, and
// a property that only private notes have is none.
func TestPRIV6_PropertiesOfPrivateNotes(t *testing.T) {
	r := privateWorld(t, "Zqcanary",
		`notes.put {"id":"eve","title":"Evelyn","body":"---\nprivate: true\nsalary: high\nstatus: done\n---\nscales"}`,
		`notes.put {"id":"open","title":"Open","body":"---\nstatus: open\nlead: \"[[Evelyn|the boss]]\"\n---\nscales"}`,
	)
	for query, want := range map[string]string{
		`status:open`:       `"id":"open"`,
		`status:done`:       `"hits":[],"mode":"lexical"`,
		`lead:evelyn`:       `"hits":[],"mode":"lexical"`,
		`lead:\"the boss\"`: `"hits":[],"mode":"lexical"`,
		`boss`:              `"hits":[],`,
		`-lead:evelyn`:      `"id":"open"`,
		`salary:high`:       `"message":"there is no filter salary:, and no note has a property of that name"}]`,
		`salar:high`:        `"message":"there is no filter salar:, and no note has a property of that name"}]`,
		`statu:done`:        `"nearest":"status:done"`,
	} {
		if got := r.raw("notes.search", `{"mode":"lexical","query":"`+query+`"}`); !strings.Contains(got, want) || strings.Contains(got, `"eve"`) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// everSaid is what a method tells again that the caller has said to another one.
var everSaid = map[string]string{"context.recent": secrets("Zqcanary").fill(fmt.Sprint(attempts["context.assemble"]))}

// raw returns what a call is answered.
func (r *remoteReader) raw(method, params string) string {
	r.t.Helper()
	r.call("x", method, params)
	for {
		line := r.line()
		if strings.Contains(line, `"id":"x"`) {
			return line
		}
		if strings.Contains(line, "psecret") {
			r.t.Errorf("told unasked: %s", line)
		}
	}
}

// TestPRIV6_AGuessedIDIsAnsweredAsAnUnknownOne: what is private and what is not there
// are one.
func TestPRIV6_AGuessedIDIsAnsweredAsAnUnknownOne(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, append(publicRecords(true), privateRecords(true)...)...)
	for _, call := range []string{
		`notes.get {"ref":"psecret"}`, `notes.links {"ref":"psecret"}`, `notes.resolve {"link":"[[Open]]","from":"psecret"}`,
		`notes.patch {"id":"psecret","title":"x"}`, `notes.archive {"id":"psecret"}`, `notes.restore {"id":"psecret"}`, `notes.delete {"id":"psecret","ifVersion":7}`,
		`entities.get {"ref":"psecret"}`, `entities.get {"ref":"psecret","resolve":2}`, `entities.archive {"id":"psecret"}`,
		`entities.patch {"id":"psecret","name":"x"}`, `entities.restore {"id":"psecret"}`, `entities.delete {"id":"psecret"}`,
		`graph.neighbors {"ref":"psecret"}`, `graph.path {"from":"psecret","to":"ann"}`, `graph.path {"from":"ann","to":"psecret"}`,
		`wql.query {"query":"SELECT p FROM Person p","this":"psecret"}`,
		`notes.put {"id":"psecret","title":"x"}`, `notes.put {"id":"psecret","title":"x","ifVersion":1}`, `notes.putMany {"notes":[{"title":"a"},{"id":"psecret","title":"x"}]}`,
		`entities.put {"id":"psecret","type":"Person","name":"x"}`, `entities.put {"id":"psecret","type":"Person","name":"x","ifVersion":0}`,
		`entities.putMany {"entities":[{"id":"psecret","type":"Person","name":"x"}]}`, `entities.put {"type":"Person","name":"x","noteId":"psecret"}`,
		`entities.putMany {"entities":[{"type":"Person","name":"x","noteId":"psecret"}]}`, `entities.patch {"id":"ann","noteId":"psecret"}`,
		`context.assemble {"mentionedEntityIds":["psecret"],"mentionedNoteIds":["psecret"],"actionItems":[{"id":"a","text":"x","entityIds":["psecret"]}]}`,
	} {
		method, params, _ := strings.Cut(call, " ")
		for _, id := range []string{"psecret", "pboss"} {
			got := strings.ReplaceAll(r.answer(method, strings.ReplaceAll(params, "psecret", id)), id, "nothing")
			want := r.answer(method, strings.ReplaceAll(params, "psecret", "nothing"))
			if got != want {
				t.Errorf("%s of %s: %s\nbut of nothing %s", call, id, got, want)
			}
		}
	}
}

// TestPRIV6_AGuessedPathTellsNoID: a path belongs to one note, and whose it is is not told.
func TestPRIV6_AGuessedPathTellsNoID(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, append(publicRecords(true), privateRecords(true)...)...)
	for _, call := range []string{
		`notes.put {"title":"x","path":"{folder}/{file}.md"}`, `notes.putMany {"notes":[{"title":"x","path":"{folder}/{file}.md"}]}`,
		`notes.patch {"id":"thing","path":"{folder}/{file}.md"}`,
	} {
		method, params, _ := strings.Cut(s.fillParams(call), " ")
		got := r.raw(method, params)
		if !strings.Contains(got, "another note has that path") || strings.Contains(got, "pfile") {
			t.Errorf("%s %s: %s", method, params, got)
		}
	}
}

// TestPRIV4_NamesOfThePastAreToldByNoMethod renames private records, and deletes them.
func TestPRIV4_NamesOfThePastAreToldByNoMethod(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, append(publicRecords(true), privateRecords(true)...)...)
	told := regexp.MustCompile(`(?i)zqcanary\w*|"(psecret|pfile|pboss|plone)"`)
	for _, lose := range []string{
		`notes.put {"id":"psecret","title":"Renamed","private":true,"body":"x"}`, `notes.patch {"id":"pfile","title":"Renamed","path":"renamed.md"}`,
		`entities.patch {"id":"pboss","name":"Renamed","aliases":[]}`, `entities.delete {"id":"pboss"}`, `entities.delete {"id":"plone"}`,
		`notes.delete {"id":"psecret"}`, `notes.delete {"id":"pfile"}`,
	} {
		method, params, _ := strings.Cut(lose, " ")
		r.daemon.do(method, params)
		for _, name := range protocol.Names() {
			if protocol.Lookup(name).Mode == protocol.Mutation {
				continue
			}
			for _, params := range attempts[name] {
				params = s.fillParams(params)
				said := strings.ToLower(params + everSaid[name])
				got := r.raw(name, params)
				for _, found := range told.FindAllString(got, -1) {
					if !strings.Contains(said, strings.ToLower(found)) {
						t.Errorf("after %s, %s %s: %q in\n%s", lose, name, params, found, got)
					}
				}
			}
		}
	}
}

// TestPRIV3_ARemoteConnectionStaysRemote: it can't ask for local, nor for methods over
// the whole store; a local one can ask for remote.
func TestPRIV3_ARemoteConnectionStaysRemote(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, append(publicRecords(true), privateRecords(true)...)...)
	refused := func(method, params string) {
		t.Helper()
		r.call("x", method, params)
		r.wantError(`"x"`, protocol.CodeUnavailable)
	}
	refused("notes.get", `{"ref":"open","audience":"local"}`)
	refused("types.list", `{"audience":"local"}`)
	refused("context.assemble", `{"text":"x","audience":"local"}`)
	refused("context.recent", `{"audience":"local"}`)
	marked := 0
	for _, m := range protocol.Methods {
		if m.LocalOnly() {
			refused(m.Name, map[bool]string{true: attempts[m.Name][0]}[len(attempts[m.Name]) > 0])
			marked++
		}
	}
	if marked < 12 {
		t.Errorf("%d methods are marked", marked)
	}
	if _, err := r.daemon.try("notes.get", `{"ref":"psecret","audience":"remote"}`); err == nil {
		t.Error("a local connection that asks for remote is shown a private note")
	}
	if _, err := r.daemon.try("notes.get", `{"ref":"psecret"}`); err != nil {
		t.Errorf("a local connection: %v", err)
	}
}

// TestCTX32_TheReportFollowsTheConnection: the prompt is the same, and only a local
// connection reads what was withheld.
func TestCTX32_TheReportFollowsTheConnection(t *testing.T) {
	const s = secrets("Zqcanary")
	r := privateWorld(t, s, append(publicRecords(true), privateRecords(true)...)...)
	params := `{"text":"@Cid @Zqcanaryname [[Zqcanarytitle]] scales","mentionedEntityIds":["pboss"],"searchNotes":8}`
	local := r.daemon.do("context.assemble", params)
	var remote struct{ Result map[string]any }
	must(t, json.Unmarshal([]byte(r.raw("context.assemble", params)), &remote))
	if at(local, "system") != at(remote.Result, "system") {
		t.Errorf("two prompts:\n%v\n%v", at(local, "system"), at(remote.Result, "system"))
	}
	reasons := func(result map[string]any) (list []string) {
		for _, d := range at(result, "report.dropped").([]any) {
			list = append(list, fmt.Sprint(at(d, "reason")))
		}
		return list
	}
	if got := reasons(local); !slices.Contains(got, "private") {
		t.Errorf("a local connection reads %v", got)
	}
	if got := reasons(remote.Result); slices.Contains(got, "private") || !slices.Contains(got, "unknown") {
		t.Errorf("a remote connection reads %v", got)
	}
}

// TestPRIV8_ReferencesThatLeadNowhereAreMasked: a reference that is a private record's name, and leads nowhere, is told neither
// by what was left out of a prompt nor where references are resolved.
func TestPRIV8_ReferencesThatLeadNowhereAreMasked(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Person","fields":[{"name":"boss","type":"entity_ref"},{"name":"file","type":"note_ref"}]}`)
	d.do("notes.put", `{"id":"pnote","title":"Zqnote","private":true}`)
	d.do("entities.put", `{"id":"pentity","type":"Person","name":"Zqname","private":true}`)
	for i, value := range []string{"Zqname", "Zqnote", "[[Zqname]]", "[[Zqnote]]"} {
		d.do("entities.put", fmt.Sprintf(`{"id":"e%d","type":"Person","name":"Open %[1]d","fields":{"file":%[2]q,"boss":%[2]q}}`, i, value))
		for _, call := range []string{
			`context.assemble {"mentionedEntityIds":["e%d"],"explain":true}`, `context.assemble {"text":"@[Open %d]"}`,
			`entities.get {"ref":"e%d"}`, `entities.get {"ref":"e%d","resolve":2}`, `tools.call {"name":"get_entity","arguments":{"entity":"e%d"}}`,
		} {
			method, params, _ := strings.Cut(fmt.Sprintf(call, i), " ")
			if got := d.remote().raw(method, params); !strings.Contains(got, "Open") || strings.Contains(got, "Zqn") {
				t.Errorf("%s, where a value is %s: %s", method, value, got)
			}
		}
	}
}

// TestPRIV4_ASourceThatIsGoneIsNotNamed: of a memory that was made public when its private conversation was gone, no remote
// reader is told the id of that conversation.
func TestPRIV4_ASourceThatIsGoneIsNotNamed(t *testing.T) {
	d := start(t)
	d.do("chat.put", `{"id":"zqtalk","title":"Secret","private":true}`)
	d.do("memory.add", `{"id":"m1","statement":"The hive is open","source":{"kind":"user","conversationId":"zqtalk"}}`)
	d.do("chat.delete", `{"id":"zqtalk"}`)
	d.do("memory.patch", `{"id":"m1","private":false}`)
	d.do("memory.patch", `{"id":"m1","statement":"The hive is wide open"}`)
	for _, call := range []string{
		`memory.get {"ref":"m1"}`, `memory.list {}`, `memory.versions {"ref":"m1"}`, `memory.search {"query":"hive","explain":true}`, `refs.resolve {"ref":"m1"}`, `refs.gather {"text":"hive"}`,
	} {
		method, params, _ := strings.Cut(call, " ")
		if got := d.remote().raw(method, params); !strings.Contains(got, "open") || strings.Contains(got, "zqtalk") {
			t.Errorf("%s: %s", call, got)
		}
	}
}

// TestPRIV6_EventsOfARemoteConnection: they carry no private id, and what becomes
// private is deleted for it.
func TestPRIV6_EventsOfARemoteConnection(t *testing.T) {
	r := privateWorld(t, "Zqcanary", publicRecords(false)...)
	r.call("s", "events.subscribe", `{"topics":["notes.changed","entities.changed"]}`)
	r.wantResult(`"s"`, "")
	for _, step := range []struct{ method, params, want string }{
		{"notes.put", `{"id":"p1","title":"x","private":true}`, ""},
		{"notes.put", `{"id":"n1","title":"x1"}`, `"ids":["n1"],"kind":"put"`},
		{"notes.patch", `{"id":"n1","private":true}`, `"ids":["n1"],"kind":"delete"`},
		{"notes.patch", `{"id":"n1","private":false}`, `"ids":["n1"],"kind":"put"`},
		{"entities.put", `{"id":"p2","type":"Person","name":"x","private":true}`, ""},
		{"notes.delete", `{"id":"p1"}`, ""},
		{"entities.put", `{"id":"e1","type":"Person","name":"x"}`, `"ids":["e1"],"kind":"put"`},
	} {
		r.daemon.do(step.method, step.params)
		if step.want == "" {
			continue
		}
		if got := r.line(); !strings.Contains(got, step.want) {
			t.Errorf("%s %s: told %s", step.method, step.params, got)
		}
	}
}

// TestPRIV10_PagesOfProse come to the same as one list.
func TestPRIV10_PagesOfProse(t *testing.T) {
	d := privateWorld(t, "Zqcanary", append(publicRecords(true), privateRecords(true)...)...).daemon
	name := fmt.Sprint(at(d.do("privacy.list", `{"limit":1}`), "records.0.title"))
	for i := range 3 {
		d.do("notes.put", fmt.Sprintf(`{"id":"prose%d","title":"Prose / of %d","body":"of %s\nand %s"}`, i%2, i, name, name))
	}
	places := func(page map[string]any) (list []string) {
		for _, p := range at(page, "places").([]any) {
			list = append(list, fmt.Sprint(at(p, "id"), at(p, "line"), at(p, "text"), at(p, "names.id")))
		}
		return list
	}
	whole := places(d.do("privacy.prose", `{}`))
	if len(whole) < 4 {
		t.Fatalf("%q", whole)
	}
	var paged []string
	for params := `{"limit":1}`; params != ""; {
		page := d.do("privacy.prose", params)
		paged = append(paged, places(page)...)
		params = ""
		if next := at(page, "nextCursor"); next != nil && len(paged) <= len(whole) {
			params = fmt.Sprintf(`{"limit":1,"cursor":"%v"}`, next)
		}
	}
	if !slices.Equal(whole, paged) {
		t.Errorf("pages of %q\nbut a list of %q", paged, whole)
	}
}

// TestPRIV7_PagesOfPrivateRecords come to the same as one list.
func TestPRIV7_PagesOfPrivateRecords(t *testing.T) {
	d := privateWorld(t, "Zqcanary", append(publicRecords(true), privateRecords(true)...)...).daemon
	all := d.do("privacy.list", `{}`)
	var ids []string
	for _, r := range at(all, "records").([]any) {
		ids = append(ids, fmt.Sprint(at(r, "kind"), at(r, "id"), at(r, "rule")))
	}
	if len(ids) < 4 || float64(len(ids)) != at(all, "notes").(float64)+at(all, "entities").(float64) {
		t.Fatalf("%v", all)
	}
	var paged []string
	params := `{"limit":1}`
	for range ids {
		page := d.do("privacy.list", params)
		for _, r := range at(page, "records").([]any) {
			paged = append(paged, fmt.Sprint(at(r, "kind"), at(r, "id"), at(r, "rule")))
		}
		params = fmt.Sprintf(`{"limit":1,"cursor":"%v"}`, at(page, "nextCursor"))
	}
	if !slices.Equal(ids, paged) {
		t.Errorf("pages of %v\nbut a list of %v", paged, ids)
	}
}
