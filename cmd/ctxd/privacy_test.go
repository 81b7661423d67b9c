package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// line is a command line, but for its command, and what stands on its standard input.
type line struct {
	args  []string
	stdin string
}

// said makes lines without input: one for each text, taken apart at its bars.
func said(lines ...string) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		out[i].args = strings.Split(l, "|")
	}
	return out
}

// commandsOfReaders are lines of each command that shows records, in every form that it
// prints. The test adds --audience, and --json where the line names no form.
var commandsOfReaders = map[string][]line{
	"search": said("scales|-n|100", "scales|--explain|-n|100", "Zqbody", "Zqtitl", "about|-m|lexical", "Zqname scales|-m|semantic|--explain",
		"scales|--tag|zqtag", "scales|--folder|Zqfolder", "scales|--type|Zqtype", `"Zqtitle secret" scales`),
	"similar": said("Open|-n|100", "Thing", "Zqtitl", "Zqplain", "zqnote", "Weekly"),
	"wql": append(said("SELECT p FROM Person p", "SELECT p FROM Person p|-x", "SELECT p FROM Person p ORDER BY p.boss.name|--fields|about,boss,boss.name,file,friend.about,top,same",
		"SELECT p FROM Person p WHERE p.boss.name LIKE 'Zq%'|--format|csv", "SELECT t FROM Thing t|--format|tsv|--fields|colour,zqcolour", "SELECT p FROM Person p|--explain",
		"SELECT MAX(p.boss.name) FROM Person p", "SELECT t FROM Zqtyp t", "SELECT p FROM Person p WHERE p.boss = {this}|--this|Ann", "SELECT p FROM Person p|--this|Zqnam",
		"SELECT p FROM Person p|--this|Zqnick", "SELECT t FROM Thing t WHERE t.zqcolou = 'x'|--type|Thing", `\t|--format|tsv`, `\d Thing`, `\d Zqtyp`,
		"SELECT p FROM Person p WHERE p.about LIKE 'see%'", "SELECT t FROM Task t|--fields note,heading,tags,due", "SELECT t FROM Task t WHERE t.name LIKE '%Zq%'|--format|csv"),
		line{args: []string{"--keep-going"}, stdin: "\\this Zqnam\n\\this Bob\nSELECT t FROM Thing t;\n\\d\nSELECT x FROM Zqtyp x;\n"}),
	"notes list":    said("", "-n|1", "--tag|zqtag", "--folder|Zqfolder", "--type|Zqtype", "--archived", "--type|Person"),
	"notes show":    said("Open", "Thing", "Zqtitl", "zqnote", "Zqfolder/Zqpath.md", "About Zqtitle Secret"),
	"entities list": said("", "-n|1", "--type|Person", "--type|Zqtype", "--type|Thing", "--archived"),
	"entities show": said("Ann", "Dan", "zqboss", "@Zqnick", "Cid [[Zqpath]]"),
	"types list":    said(""),
	"types show":    said("Person", "Thing", "Zqtype", "Zqtyp"),
	"tags list":     said("", "zq", "-n|1"),
	"tags show":     said("zqtag", "meeting"),
	"tasks list":    said("", "--done", "--due|week", "--note|Open", "--note|Zqtitl", "-n|1"),
	"prompt":        said("@Cid @Ann @Zqnick [[Open]] [[Zqplain]] and scales|--search|8", "@Ann scales|--prompt", "x|--note|Zqtitl"),
	"inspect context": said("@Cid @Ann @Zqnick [[Open]] [[Zqplain]] and scales|--search|8|--depth|4", "@Ann scales|--prompt|--search|8", "@Dan @Ben|--prompt|--format|xml",
		"@Ann|--entity|Cid|--note|Open|--html|page.html", "x|--entity|Zqnam", "x|--note|Zqtitl", "x|--entity|zqboss|--note|zqnote", "Zqtitle Secret|--prompt|--search|8"),
	"inspect note": said("Open|--body", "Thing|--body", "Title.md|--body", "h0.md|--body", "h12.md", "Plain.md|--body", "Weekly", "Zqtitl", "Zqfolder/Zqpath.md", "zqnote",
		"About Zqtitle Secret"),
	"inspect entity": said("Ann", "@Cid", "cid", "bob", "Bob", "Dan", "zqboss", "Zqnam", "@Zqnick", "Plain", "Cid [[Zqpath]]"),
	"inspect graph": said("Ann|--depth|4", "@Ann|--depth|2|--fields|16", "Ann|--depth|3|--format|dot", "Ann|--depth|3|--format|mermaid", "Ann|--depth|3|--format|svg",
		"Ann|--format|svg|-o|ann.svg|--fields|16", "Open|--depth|4", "Ann|--to|Ben|--fields|16", "Ann|--to|Ben|--depth|2", "Dan|--to|Open", "Ann|--to|Zqnam", "zqboss", "", "Zqtitl"),
	"books list":     said("", "--state|ready"),
	"books show":     said("zqbook", "openbook", "openbook|--text", "zqbook|--section|Zqhead", "Zqtitle"),
	"books search":   said("scales", "Zqbody scales|-n|50"),
	"memory list":    said("", "--sort|created", "--tag|zqlabel", "--context|zqcontext", "--context|health", "--kind|identity", "--entity|Zqname"),
	"memory show":    said("1", "2", "zqmemory|--versions", "open|--versions", "zqstatement_about"),
	"memory search":  said("Zqtitl", "zqmemory", "Weekly|--explain", "zqnote"),
	"memory similar": said("1", "2", "zqmemory", "open"),
	"memory profile": said(""),
	"memory stats":   said(""),
	"memory concepts": said("scales", "Ann", "Zqname", "zqlabel", "zqstatement", "Zqtitle", "", "--sort|recent|-n|500", "--sort|oldest|--since|2020-01-01", "--format|dot|-n|500", "--format|mermaid", "--format|svg",
		"--format|svg|-o|concepts.svg", "--path|scales|Ann", "--path|Zqname|scales", "--path|zqstatement|Ann|--format|svg"),
	"memory insights":      said("What of scales and of Ann?", "Zqnick of the zqlabel and of scales", "Zqtitle and Zqname of scales", "scales|--conversation|zqtalk"),
	"memory effectiveness": said("weigh the scales with Ann", "Zqnick of the zqlabel and of scales", "Zqtitle of Zqname"),
	"memory conflicts":     said("", "-n|1"),
	"memory events":        said("", "1", "2", "zqmemory", "open|-n|1"),
	"chat search":          said("scales|-n|100", "zqstatement", "Zqtitle talk", "zqname role:user", "talk|--archived|-m|lexical", "scales|--explain"),
	"memory synonyms list": said(""),
	"chat list":            said("", "--archived"),
	"chat providers":       said("", "--probe"),
	"chat intents":         said("/forget #1; /forget #2; /forget zqmemory; /forget open", "/forget zqmemory; /pin [[Zqtitl]]; /pin Open; /pin zqnote; /pin Zqname|-s|{talk 0}", "/pin Open|-s|zqtalk"),
	"chat stats":           said("", "-n|1"),
	"chat citations":       said("Open|--all", "Thing", "zqnote", "Zqtitl"),
	"chat suggest":         said("cites|-n|50", "{talk 0}|-n|50", "{talk 1}", "pcites", "zqtalk"),
	"chat highlights":      said("cites", "cites|1", "cites-m1", "pcites", "zqtalk"),
	"chat references":      said("{talk 0}|--all", "{talk 0}|1", "{talk 1}", "zqtalk", "cites"),
	"chat graph":           said("", "--format|dot", "--format|svg", "--format|svg|-o|chats.svg"),
	"chat actions":         said("", "{talk 0}", "-n|1"),
	"inspect chat":         said("{talk 0}", "{talk 0}|2", "{talk 0}|--html|chat.html|--force", "{talk 1}", "zqtalk"),
	"chat show":            said("{talk 0}", "{talk 1}", "zqtalk"),
	"chat export":          said("{talk 0}", "{talk 0}|--format|json", "{talk 1}|--format|json", "zqtalk", "{talk 0}|-o|talk.md|--force"),
	"refs complete":        said("", "zq", "Zqname", "Zqtitle", "#", "open", "ann", "--kind|tag|--kind|domain", "--kind|context|-n|1", "zqstatement"),
	"inspect memory":       said("1", "2", "zqmemory", "open", "2|--html|memory.html|--force"),
	"inspect learning":     said(""),
	"contexts list":        said("", "--tree", "--parent|zqcontext", "--parent|Zqcontext"),
	"refs resolve":         said("1", "2", "3", "4", "@zqmemory", "@zqcontext", "Zqcontext", "@zqtag_tag", "@Zqname", "zqstatement_about|open", "health"),
	"refs gather":          said("#1 #2 #3 #4 @zqmemory @zqcontext @zqtag_tag", "@Zqname @Ann and scales|--format|xml|-k|20", "health @health_context open|--format|pkb", "x|--memory|1|--memory|2|-k|0"),
	"contexts show":        said("health", "Health", "zqcontext", "Zqcontext"),
	"inspect wql": said("SELECT p FROM Person p WHERE p.boss = {this}|--this|Zqnam", "SELECT t FROM Zqtyp t", "SELECT t FROM Thing t WHERE t.zqcolou = 3|--explain",
		"SELECT p FROM Person p ORDER BY p.boss.name|--explain", "SELECT t FROM Thing t|--type|Zqtyp"),
	"inspect search":   said("scales|-n|100", "Zqtext scales", "Zqtitl", "scales|--tag|zqtag", "Zqname about"),
	"inspect why":      said("open|scales", "open|Zqtext|Zqtitl", "zqtitle|scales", "open|scales|--tag|zqtag"),
	"vault list":       said(""),
	"vault status":     said("", "V", "Zqv"),
	"vault unresolved": said("", "V|-n|10000"),
	"vault history":    said("", "V|--diff"),
	"vault problems":   said("", "V", "V|-n|10000|--kind|link.unresolved"),
	"call": said("notes.list", "notes.get|ref=Open", "notes.get|ref=zqnote", "entities.list", "types.list", "context.assemble|text=@Ann @Cid", "graph.stats",
		"privacy.list", "notes.get|ref=zqnote|audience=local", "tags.list", "vault.import|path=/nowhere"),
	"tools call": said(`read_note|{"id":"Open"}`, `read_note|{"id":"zqnote"}`, `read_note|{"id":"Zqtitl"}`, `read_note|{"path":"Zqfolder/Zqpath.md"}`, `find_excerpts|{"query":"scales zqbody"}`,
		`search_notes|{"query":"scales about"}`, `get_entity|{"entity":"Ann","depth":3}`, `get_entity|{"entity":"Zqnick"}`, `explore_graph|{"record":"Ann","depth":4}`, `explore_graph|{"record":"Zqnam"}`,
		`query|{"query":"SELECT p FROM Person p ORDER BY p.boss.name, p.about, p.met, p.file"}`, `query|{"query":"SELECT t FROM Zqtyp t"}`, `search_memory|{"query":"Zqtitl scales"}`,
		`create_task|{"title":"x","entities":["Ann"],"note":"Open"}`, `assign_entity|{"entity":"Ann","field":"boss","to":"Zqnam"}`),
	"events": said("notes.changed|entities.changed|--count|3"),
	"mcp":    {{stdin: hostSession, args: []string{"--tools", "all"}}},
}

// hostSession is what a host says to ctxd mcp.
const hostSession = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_notes","arguments":{"query":"scales","limit":50}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_entity","arguments":{"name":"Ann","depth":4}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"assemble_context","arguments":{"message":"@Ann @Cid [[Open]] scales"}}}
{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{}}
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"zqnote"}}}
`

// commandsForPeople are the commands whose output no model is meant to read, and why.
var commandsForPeople = map[string]string{
	"serve":            "prints its log, in which no record stands",
	"stop":             "prints that the daemon has stopped",
	"stdio":            "hands on what the client at its other end says, the audience of its initialize included",
	"lsp":              "serves the editor of the person whose notes they are, as a local reader",
	"hook call":        "reads as a remote connection does, unless the settings of a host say otherwise: TestCLI12_AHostIsToldNothingPrivate",
	"hook install":     "prints lines of the settings of another program, in which no record stands",
	"hook uninstall":   "prints lines of the settings of another program, in which no record stands",
	"inspect capture":  "prints counts and times of the sessions of a person, of all conversations",
	"service install":  "prints what it has written for the system",
	"service status":   "prints how the system runs the daemon",
	"service remove":   "prints what it has removed",
	"demo":             "shows the sample vault, with a daemon of its own",
	"notes archive":    "writes, and says what of, to who may write",
	"notes restore":    "writes, and says what of, to who may write",
	"notes delete":     "writes, and says what of, to who may write",
	"entities archive": "writes, and says what of, to who may write",
	"entities restore": "writes, and says what of, to who may write",
	"entities delete":  "writes, and says what of, to who may write",
	"types delete":     "writes, and says what of, to who may write",
	"memory judge":     "asks a model as a writer does, and prints what it says to the person",
	"tasks done":       "writes, and says what of, to who may write",
	"tasks reopen":     "writes, and says what of, to who may write",
	"notes set":        "writes, and says what of, to who may write",
	"entities set":     "writes, and says what of, to who may write",
	"types set":        "writes, and says what of, to who may write",
	"memory add":       "writes, and says what of, to who may write",
	"memory set":       "writes, and says what of, to who may write",
	"memory pin":       "writes, and says what of, to who may write",
	"memory unpin":     "writes, and says what of, to who may write",
	"memory archive":   "writes, and says what of, to who may write",
	"memory restore":   "writes, and says what of, to who may write",
	"memory retract":   "writes, and says what of, to who may write",
	"memory delete":    "writes, and says what of, to who may write",
	"memory forget":    "is refused to a remote connection",
	"memory outcome":   "writes, and says what of, to who may write",
	"memory promote":   "is refused to a remote connection",
	"memory upkeep":    "is refused to a remote connection",

	"books add":     "is refused to a remote connection",
	"books publish": "says what it did, to who may write",
	"books delete":  "says what it did, to who may write",

	"sync init":            "shows no record",
	"sync join":            "shows no record",
	"sync status":          "is refused to a remote connection",
	"sync machines":        "is refused to a remote connection",
	"sync remove":          "is refused to a remote connection",
	"sync leave":           "is refused to a remote connection",
	"sync conflicts":       "is refused to a remote connection",
	"sync settle":          "is refused to a remote connection",
	"personality list":     "is refused to a remote connection",
	"personality show":     "is refused to a remote connection",
	"personality use":      "is refused to a remote connection",
	"personality edit":     "is refused to a remote connection",
	"personality set":      "is refused to a remote connection",
	"personality validate": "prints what it was given",
	"personality delete":   "is refused to a remote connection",
	"personality export":   "is refused to a remote connection",
	"personality import":   "is refused to a remote connection",

	"memory synonyms set":    "writes, and says what of, to who may write",
	"memory synonyms delete": "writes, and says what of, to who may write",

	"memory export":   "is refused to a remote connection",
	"memory import":   "is refused to a remote connection",
	"chat talk":       "asks a model, which reads for itself, and shows its user the answer",
	"open":            "runs a program of a person with a file of his; a client of a model calls notes.get",
	"chat say":        "asks a model, which reads for itself, and shows its user the answer",
	"chat follow":     "shows a person the answers that others ask for; a client of a model calls chat.follow",
	"chat cancel":     "writes, and says what of, to who may write",
	"chat confirm":    "is for the person who was shown the action, and writes",
	"chat reject":     "is for the person who was shown the action, and writes",
	"chat append":     "writes, and says what of, to who may write",
	"chat new":        "writes, and says what of, to who may write",
	"chat pin":        "writes, and says what of, to who may write",
	"chat unpin":      "writes, and says what of, to who may write",
	"chat set":        "writes, and says what of, to who may write",
	"chat archive":    "writes, and says what of, to who may write",
	"chat restore":    "writes, and says what of, to who may write",
	"chat import":     "is refused to a remote connection",
	"chat delete":     "writes, and says what of, to who may write",
	"contexts set":    "writes, and says what of, to who may write",
	"contexts delete": "writes, and says what of, to who may write",
	"contexts link":   "writes, and says what of, to who may write",
	"contexts unlink": "writes, and says what of, to who may write",
	"import":          "is refused to a remote connection, and says to its caller which files were left out",
	"vault undo":      "changes a file of a note that the connection sees, and shows no text to a remote one",
	"vault unwatch":   "is refused to a remote connection",
	"vault forget":    "is refused to a remote connection",
	"compact":         "is refused to a remote connection",
	"backup":          "is refused to a remote connection",
	"restore":         "is refused to a remote connection",
	"doctor all":      "looks into the store's own files, for who mends them",
	"doctor store":    "looks into the store's own files, for who mends them",
	"inspect status":  "prints counts and figures of the daemon, of all records",
	"inspect index":   "prints counts and figures of the indexes, of all records",
	"inspect privacy": "is about all records: what is private is its very answer",
	"inspect rpc":     "prints names of methods and figures",
	"inspect log":     "prints the log, in which no record stands",
	"refs rename":     "writes, and says what of, to who may write",
	"refs parse":      "asks no store: it prints what its caller wrote",
	"tools list":      "prints what tools there are, and no record",
	"templates list":  "prints templates, in which no record stands",
	"templates show":  "prints templates, in which no record stands",
	"config":          "prints settings",
	"completion":      "prints a script",
	"offer":           "completes what its caller types at a terminal of his own",
	"man":             "writes manual pages, in which no record stands",
	"uninstall":       "prints which files of ctxd it removes",
	"version":         "prints the version",
	"model info":      "shows the models in the program, and reads no records",
}

// boundaries are those of records in XML: any letters, so that one in a thousand begins as a canary does.
var boundaries = regexp.MustCompile(`\bb=\\?"[\w-]{16}\\?"`)

// canaryWords are what stands in private records only, of fixtures.WriteCanaries.
var canaryWords = regexp.MustCompile(`(?i)zq\w*|990099`)

// privateHouse is a daemon over the canaries.
type privateHouse struct {
	home
	t       *testing.T
	dir     string // where commands run
	client  *client.Client
	private []string // ids
	talks   []string // what lines call conversations, each with its id
}

func servePrivate(t *testing.T) *privateHouse {
	t.Helper()
	h := &privateHouse{home: newHome(t), t: t, dir: t.TempDir()}
	folder := filepath.Join(t.TempDir(), "V")
	h.must(fixtures.WriteCanaries(folder))
	starts := h.command(t, "stdio", "--idle-exit", "never") // a daemon
	starts.Env = append(starts.Env, "CTXD_VAULT_WRITE=/")
	h.must(starts.Run())
	c, err := client.Dial(t.Context(), h.socket, client.Options{})
	h.must(err)
	t.Cleanup(func() { _ = c.Close() })
	h.client = c
	h.must(c.Call(t.Context(), "vault.import", protocol.VaultImport{Path: folder}, new(vault.ImportResult)))
	var secret protocol.NoteFull // a write to it is in the history
	h.must(c.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: "Zqfolder/Zqpath.md"}, &secret))
	h.must(c.Call(t.Context(), "notes.patch", rawParams(`{"id":"`+secret.ID+`","append":"Zqadded."}`), nil))
	for _, r := range slices.Concat(fixtures.CanaryRecords, fixtures.CanaryMemories) {
		var kept protocol.ChatAppended // of a conversation
		h.must(c.Call(t.Context(), r[0], rawParams(r[1]), &kept))
		if kept.ConversationID != "" {
			h.talks = append(h.talks, fmt.Sprintf("{talk %d}", len(h.talks)/2), kept.ConversationID)
		}
	}
	for _, id := range []string{"zqmemory", "open"} { // an event of each
		h.must(c.Call(t.Context(), "memory.outcome", protocol.MemoryOutcome{IDs: []string{id}, Outcome: record.OutcomeWorked}, nil))
	}
	h.must(c.Call(t.Context(), "chat.import", protocol.ChatImport{Data: proposes("acts", 1, "Tar the roof")}, nil))
	h.must(c.Call(t.Context(), "chat.import", protocol.ChatImport{Data: proposes("pacts", 0, "Zqtitle Secret")}, nil))
	var open protocol.NoteFull
	h.must(c.Call(t.Context(), "notes.get", protocol.NoteGet{Ref: "Open"}, &open))
	h.must(c.Call(t.Context(), "chat.import", protocol.ChatImport{Data: cites("cites", 1, "Open cites", open.ID, "zqnote")}, nil))
	h.must(c.Call(t.Context(), "chat.import", protocol.ChatImport{Data: cites("pcites", 0, "Zqtitle cites", open.ID)}, nil))
	for _, book := range []record.BooksAdd{
		{ID: "zqbook", MimeType: "md", Text: "# Zqhead\n\nZqbody scales.\n", Title: "Zqtitle Secret book", Author: "Zqname", Private: true},
		{ID: "openbook", MimeType: "md", Text: "# Of [[Zqtitle Secret]]\n\nThe scales of [[Zqtitle Secret]].\n", Title: "Open [[Zqtitle Secret]]"},
	} {
		h.must(c.Call(t.Context(), "books.add", book, nil))
	}
	const scored = `{"id":"zqscored","tier":"working","statement":"Zqstatement of what helps","private":true}`
	h.must(c.Call(t.Context(), "memory.add", rawParams(scored), nil))
	h.must(c.Call(t.Context(), "memory.outcome", rawParams(`{"ids":["zqscored"],"outcome":"worked"}`), nil))
	for _, fact := range []string{
		`{"id":"zqnear","statement":"The zqbody weighs 12 kilograms","private":true}`, `{"id":"zqfar","statement":"The zqbody weighs 19 kilograms","private":true}`,
	} {
		h.must(c.Call(t.Context(), "memory.add", rawParams(fact), nil))
	}
	cmd := h.command(t, "inspect", "index", "--watch")
	h.must(cmd.Run()) // until there are vectors
	h.must(c.Call(t.Context(), "memory.upkeep", rawParams(`{"steps":["contradictions"]}`), nil))
	var list protocol.PrivateRecords
	h.must(c.Call(t.Context(), "privacy.list", protocol.PrivacyList{Page: protocol.Page{Limit: 1000}}, &list))
	for _, r := range list.Records {
		h.private = append(h.private, r.ID)
	}
	if len(h.private) < 8 {
		t.Fatalf("only %d records are private", len(h.private))
	}
	return h
}

// proposes is an export of a conversation in which an answer proposes a task. Its number for remote readers is public, 0
// when it is private.
func proposes(id string, public int, task string) string {
	now := time.Now().UTC()
	at := now.Format(time.RFC3339)
	counts := fmt.Sprintf(`{"messages":%d,"at":%q}`, public, at)
	if public == 0 {
		counts = "{}"
	}
	return fmt.Sprintf(`{"format":"ctxd-chat","version":1,"conversation":{"id":%[1]q,"handle":"%[1]s_talk_k3x9","title":"Work","createdAt":%[2]q,"changedAt":%[2]q,`+
		`"version":1,"all":{"messages":1,"at":%[2]q},"public":%[3]s},"messages":[{"id":"%[1]s-m1","index":1,"publicIndex":%[4]d,"hash":"a1f20k",`+
		`"role":"assistant","content":"Shall I?","createdAt":%[2]q,"addedAt":%[2]q,"finish":"complete","clientMessageId":"","actions":[{"id":"%[1]s-a1",`+
		`"type":"createTask","args":{"title":%[5]q},"status":"proposed","messageId":"%[1]s-m1","reason":"","expiresAt":%[6]q}]}]}`,
		id, at, counts, public, task, now.Add(23*time.Hour).Format(time.RFC3339))
}

// cites is an export of a conversation in which a question has links to notes, and what was shown of them. Its number for remote readers is public, 0
// when it is private.
func cites(id string, public int, title string, noteIDs ...string) string {
	refs := make([]record.ChatReference, len(noteIDs))
	for i, note := range noteIDs {
		refs[i] = record.ChatReference{NoteID: note, Type: record.ReferDirect, Status: record.ReferOK, Ranges: [][2]int{{0, 3}}, Hash: "0"}
	}
	list, _ := json.Marshal(refs) // of strings
	counts := fmt.Sprintf(`{"messages":%d,"user":%[1]d,"at":"2026-03-04T09:00:00Z"}`, public)
	if public == 0 {
		counts = "{}"
	}
	return fmt.Sprintf(`{"format":"ctxd-chat","version":1,"conversation":{"id":%[1]q,"handle":"%[1]s_talk_k3x9","title":%[2]q,"private":%[3]v,"createdAt":"2026-03-04T09:00:00Z",`+
		`"changedAt":"2026-03-04T09:00:00Z","version":1,"all":{"messages":1,"user":1,"at":"2026-03-04T09:00:00Z"},"public":%[4]s},"messages":[{"id":"%[1]s-m1","index":1,`+
		`"publicIndex":%[5]d,"hash":"a1f20k","role":"user","content":"What of it?","createdAt":"2026-03-04T09:00:00Z","addedAt":"2026-03-04T09:00:00Z","finish":"complete",`+
		`"clientMessageId":"","references":%[6]s}]}`, id, title, public == 0, counts, public, list)
}

// rawParams are params as they stand.
type rawParams string

// MarshalJSON returns them.
func (p rawParams) MarshalJSON() ([]byte, error) { return []byte(p), nil }

func (h *privateHouse) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// prints runs a command and returns all that it printed and wrote into files.
func (h *privateHouse) prints(name string, l line, flags ...string) string {
	h.t.Helper()
	args := slices.Concat(strings.Fields(name), flags, slices.DeleteFunc(slices.Clone(l.args), func(s string) bool { return s == "" }))
	cmd := h.command(h.t, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = h.dir, strings.NewReader(l.stdin), &out, &out
	if name == "events" {
		h.whileWriting(cmd)
	} else {
		_ = cmd.Run() // refusals are answers, too
	}
	files, err := os.ReadDir(h.dir)
	h.must(err)
	for _, f := range files {
		at := filepath.Join(h.dir, f.Name())
		text, err := os.ReadFile(at)
		h.must(err)
		out.Write(text)
		h.must(os.Remove(at))
	}
	return out.String()
}

// whileWriting runs a command while private and public records change by turns.
func (h *privateHouse) whileWriting(cmd *exec.Cmd) {
	h.must(cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it printed tells
		close(ended)
	}()
	for {
		for _, params := range []string{`{"id":"zqnote","tags":["scales"]}`, `{"id":"open2","title":"Open 2"}`} {
			method := "notes.patch"
			if strings.Contains(params, "title") {
				method = "notes.put"
			}
			h.must(h.client.Call(context.WithoutCancel(h.t.Context()), method, rawParams(params), nil))
		}
		select {
		case <-ended:
			return
		default:
		}
	}
}

// told returns what is private in an output and was not said on the command line.
func (h *privateHouse) told(out string, l line) []string {
	found := canaryWords.FindAllString(boundaries.ReplaceAllString(out, ""), -1)
	for _, id := range h.private {
		if strings.Contains(out, id) {
			found = append(found, id)
		}
	}
	asked := strings.ToLower(strings.Join(l.args, " ") + l.stdin)
	return slices.DeleteFunc(found, func(word string) bool { return strings.Contains(asked, strings.ToLower(word)) })
}

// commandsOf returns the commands below a node that can be run, by their words.
func commandsOf(node *kong.Node, path string, into map[string]*kong.Node) map[string]*kong.Node {
	if len(node.Children) == 0 {
		into[path] = node
	}
	for _, child := range node.Children {
		commandsOf(child, strings.TrimSpace(path+" "+child.Name), into)
	}
	return into
}

func hasFlag(node *kong.Node, name string) bool {
	return slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == name })
}

// TestPRIV5_NoCommandTellsAModel runs each command that shows records for a remote reader,
// in every form of its output. A command that is in neither list fails it.
func TestPRIV5_NoCommandTellsAModel(t *testing.T) {
	var cli commandLine
	a := &app{
		Streams: &term.Streams{Out: new(term.Screen), Err: new(term.Screen)},
		Link:    &connect.Link{Flags: &cli.Flags, Ctx: t.Context()},
	}
	parser, err := newParser(&cli, a)
	if err != nil {
		t.Fatal(err)
	}
	all := commandsOf(parser.Model.Node, "", make(map[string]*kong.Node))
	for name, node := range all {
		_, reads := commandsOfReaders[name]
		switch {
		case !reads && commandsForPeople[name] == "":
			t.Errorf("ctxd %s is in neither list: say how a remote reader runs it, or why no model reads what it prints", name)
		case reads && name != "mcp" && !hasFlag(node, "audience"):
			t.Errorf("ctxd %s shows records and has no --audience", name)
		case !reads && hasFlag(node, "audience"):
			t.Errorf("ctxd %s has --audience and no entry", name)
		}
	}
	if runtime.GOOS == "windows" || underRace && testing.Short() { // it takes minutes, and the plain run has it
		return
	}
	h := servePrivate(t)
	for name := range commandsOfReaders {
		if all[name] == nil {
			t.Errorf("there is no command ctxd %s", name)
		}
	}
	for _, name := range campaign.Sample(slices.Sorted(maps.Keys(commandsOfReaders)), 8) {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) { h.tells(t, name, commandsOfReaders[name]) })
	}
}

// tells runs lines of a command for each reader: all of them in a campaign, otherwise up to the first that shows that the
// test can fail.
func (h *privateHouse) tells(t *testing.T, name string, lines []line) {
	h.t = t
	remote, local := []string{"--audience", "remote"}, []string{"--audience", "local"}
	if name == "mcp" {
		remote, local = nil, []string{"--include-private"}
	}
	shown := false
	for _, l := range lines {
		if shown && !campaign.Runs() {
			return
		}
		for i, arg := range l.args {
			l.args[i] = strings.NewReplacer(h.talks...).Replace(arg)
		}
		for _, form := range [][]string{nil, {"--json"}} {
			out := h.prints(name, l, slices.Concat(form, remote)...)
			found := h.told(out, l)
			if len(found) > 0 {
				t.Errorf("ctxd %s %q %q tells a remote reader %q:\n%s", name, l.args, form, found, out)
			}
			if !shown {
				all := h.prints(name, l, slices.Concat(form, local)...)
				shown = len(h.told(all, l)) > 0 || counted(all) > counted(out)
			}
		}
	}
	// What chat providers keeps from a remote reader is what was spent: package rpc has a test of it.
	if !shown && name != "chat providers" {
		t.Errorf("ctxd %s shows a local reader nothing that is private: the test proves nothing", name)
	}
}

var notesCounted = regexp.MustCompile(`"notes":(\d+)`)

// counted returns how many notes an output counts as JSON; 0 when it counts none.
func counted(out string) int {
	m := notesCounted.FindStringSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}
