package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/adrg/xdg"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// envConfig is the environment variable that names the configuration file.
const envConfig = "CTXD_CONFIG"

// Config is how ctxd is set up: flags, else the environment, else the file,
// else the defaults. Load makes one; it does not change later.
type Config struct {
	Socket   string
	Data     string        // folder of the store
	Vaults   []string      // folders that are followed from the start
	IdleExit time.Duration // 0: the daemon does not end by itself
	Log      Log
	Store    Store
	Embedder Embedder
	Reranker Reranker
	Chat     Chat
	Open     OpenCommand
	Prompts  string // folder of templates before those that are compiled in; "": none
	Weights  Weights
	Fusion   string // FusionByScore or FusionByRank
	Limits   rpc.Limits
	Records  Records
	history  string // file of the history of ctxd wql, NoLogFile for none; "": see HistoryPath
	said     string // that of ctxd chat; "": see ChatHistoryPath

	Path     string // of the file, whether it is there or not
	Present  bool
	Settings []*Setting // of the members above, in the order they are shown in
}

// Vault is what holds for the files of every vault. Exclude and Private are patterns as in
// .ctxdignore.
type Vault struct {
	Exclude []string // never read
	Private []string // folders whose notes are private, whatever they say
	Outside []string // files and folders that the daemon writes to: no vault may hold them
	Write   []vault.WriteRule
	// Attachments says which become books: books.AttachmentsAuto and others.
	Attachments string
}

// Log is how the log of a daemon is kept.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // of standard error: text or json
	File   string // NoLogFile for none; "": see logOptions
	Size   int64  // bytes of a file, after which the next one is begun
	Keep   int    // full files that are kept
}

// Store is how the store is kept.
type Store struct {
	Durability    string // strict or relaxed
	SnapshotAfter int64  // bytes of journal
	Room          rpc.DiskThresholds
	Sync          Sync
}

// Records bound what the rooms take and keep.
type Records struct {
	Vault    Vault
	Entities entities.Limits
	Memory   memory.Limits
	Features Features
	MaxBody  int   // bytes of the text of a note
	MaxBook  int64 // bytes of the file of a book

	ColdStart time.Duration // after which a conversation begins anew
	// AskForOutcome says who is asked how it went with memories: AskMCP, AskChat, AskAll or AskNobody.
	AskForOutcome string
}

// Who is asked how it went with the memories that were shown before.
const (
	AskMCP    = "mcp"
	AskChat   = "chat"
	AskAll    = "all"
	AskNobody = "none"
)

// Setting is one thing that can be configured.
type Setting struct {
	key   string // as in the file, with dots: limits.batch
	flag  string // of ctxd serve that sets it alone; "" when only --set does
	about string // for people: what it is, in a few words
	value
	Origin Origin
}

// Source is where the value of a setting can come from, weakest first.
const (
	FromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// Origin is where the value of a setting came from.
type Origin struct {
	Source string
	where  string // "config.yaml:3", "$CTXD_DATA", "--socket"; "" for a default
	file   string // the configuration file, when it is from there
	Line   int    // in it, 0 when it can't be told
}

// Env returns the environment variable that sets a setting:
// CTXD_LIMITS_FRAME_TIMEOUT for limits.frameTimeout.
func (s *Setting) Env() string { return variableOf(s.key) }

func variableOf(key string) string {
	var b strings.Builder
	b.WriteString("CTXD_")
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// Given are the values that flags give, by the key of their setting.
type Given map[string][]string

// Load finds out how ctxd is set up. path is the file that a flag names,
// "" for the one in the user's folder for configuration, which need not be
// there. Everything that was said is checked, also where something stronger
// overrules it. The errors are *Error and *term.UsageError.
func Load(path string, flags Given) (*Config, error) {
	c := Default()
	if err := c.readFile(path); err != nil {
		return nil, err
	}
	c.nameProviders(flags, os.Environ())
	if err := c.checkEnvironment(os.Environ()); err != nil {
		return nil, err
	}
	for _, s := range c.Settings {
		if err := s.take(flags[s.key]); err != nil {
			return nil, err
		}
	}
	return c, c.finish()
}

// Flags are the flags of every command that say how ctxd is set up.
type Flags struct {
	Socket string `group:"global" placeholder:"PATH" help:"Socket of the daemon. Default: $$CTXD_SOCKET, else ctxd/ctxd.sock in $$XDG_RUNTIME_DIR, else ctxd-UID/ctxd.sock in the temporary directory."`
	Config string `group:"global" placeholder:"PATH" help:"Configuration file. Default: $$CTXD_CONFIG, else ctxd/config.yaml in $$XDG_CONFIG_HOME."`
}

// Load finds out how ctxd is set up, with the flags of every command and those
// of this one.
func (f *Flags) Load(flags Given) (*Config, error) {
	all := Given{}
	maps.Copy(all, flags)
	if f.Socket != "" {
		all["socket"] = []string{f.Socket}
	}
	return Load(f.Config, all)
}

// checkEnvironment refuses variables of the sections that set nothing: their
// names are misspelt. What else begins with CTXD_ may be somebody else's.
func (c *Config) checkEnvironment(environ []string) error {
	sections := c.sections()
	names := make([]string, len(c.Settings))
	for i, s := range c.Settings {
		names[i] = s.Env()
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		ours := slices.ContainsFunc(sections, func(section string) bool {
			return strings.HasPrefix(name, variableOf(section)+"_")
		})
		if !ours || value == "" || slices.Contains(names, name) {
			continue
		}
		e := fault.New(fault.Invalid, "no setting has this environment variable").WithHint("ctxd config --help lists the settings")
		if near := text.Nearest(name, names); len(near) > 0 {
			e.Hint = "did you mean $" + near[0] + "?"
		}
		return &Error{At: Origin{Source: fromEnv, where: "$" + name}, Fault: e}
	}
	return nil
}

// take lets the environment and the flags overrule what a setting has.
func (s *Setting) take(flag []string) error {
	if text := os.Getenv(s.Env()); text != "" {
		words := []string{text}
		if s.list {
			words = filepath.SplitList(text)
		}
		if err := s.set(words); err != nil {
			return &Error{Key: s.key, At: Origin{Source: fromEnv, where: "$" + s.Env()}, Fault: err}
		}
		s.Origin = Origin{Source: fromEnv, where: "$" + s.Env()}
	}
	if len(flag) == 0 {
		return nil
	}
	at := Origin{Source: fromFlag, where: cmp.Or(s.flag, "--set")}
	if err := s.set(flag); err != nil {
		return &Error{Key: s.key, At: at, Fault: err}
	}
	s.Origin = at
	return nil
}

// finish sets what depends on something else, and makes paths absolute.
func (c *Config) finish() error {
	loc, err := socket.Resolve(c.Socket)
	var bad *fault.Error
	if errors.As(err, &bad) {
		return &Error{Key: "socket", At: c.Setting("socket").Origin, Fault: bad}
	} else if err != nil {
		return err
	}
	c.Socket = loc.Path
	if c.Data == "" {
		c.Data = filepath.Join(xdg.DataHome, "ctxd")
	}
	local := append([]*string{&c.Data}, pointers(c.Vaults)...)
	for _, file := range []*string{
		&c.Log.File, &c.history, &c.said, &c.Embedder.Table, &c.Embedder.Runner.Path,
		&c.Embedder.Runner.Model, &c.Prompts,
	} {
		if *file != "" && *file != NoLogFile {
			local = append(local, file)
		}
	}
	for _, p := range local {
		*p, err = filepath.Abs(*p)
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "cannot determine the working directory")
		}
	}
	if c.Weights == (Weights{}) {
		s := c.Setting("search.weights.lexical")
		return &Error{
			Key: s.key, At: s.Origin,
			Fault: fault.New(fault.Invalid, "%s and search.weights.semantic are both 0: no hit would have a score", s.key).
				WithHint("set one of them to 1"),
		}
	}
	if err := c.Embedder.check(); err != nil {
		key := strings.TrimSuffix("embedding."+err.Field, ".")
		return &Error{Key: key, At: c.Setting(key).Origin, Fault: err}
	}
	if err := c.Reranker.check(); err != nil {
		key := strings.TrimSuffix("rerank."+err.Field, ".")
		return &Error{Key: key, At: c.Setting(key).Origin, Fault: err}
	}
	if err := c.Store.Sync.check(); err != nil {
		return &Error{Key: err.Field, At: c.Setting(err.Field).Origin, Fault: err}
	}
	if err := c.Chat.check(); err != nil {
		return &Error{Key: err.Field, At: c.Setting(err.Field).Origin, Fault: err}
	}
	if int64(c.Records.MaxBody) > c.Limits.OutboundBytes {
		body, outbound := c.Setting("limits.bodyBytes"), c.Setting("limits.outboundBytes")
		said := outbound
		if said.Origin.Source == FromDefault {
			said = body
		}
		return &Error{Key: said.key, At: said.Origin, Fault: fault.New(fault.Invalid,
			"%s (%s) is more than %s (%s): such a note could not be sent", body.key, body.Text(), outbound.key,
			outbound.Text()).
			WithHint("make %s smaller, or %s larger", body.key, outbound.key)}
	}
	return nil
}

const (
	// NoLogFile stands for no file where a path is asked for.
	NoLogFile = "none"
	// DefaultLogSize is the size of a log file in bytes, when nothing else is configured.
	DefaultLogSize = 10 << 20
	// DefaultLogKeep is the number of full log files that are kept then.
	DefaultLogKeep = 5
)

// LogName is the name of the log in the data folder.
const LogName = "ctxd.log"

// LogPath returns the file that a daemon logs to, "" when it logs to none.
func (c *Config) LogPath() (string, error) {
	switch c.Log.File {
	case NoLogFile:
		return "", nil
	case "":
		return filepath.Join(c.Data, "log", LogName), nil
	}
	return filepath.Abs(c.Log.File)
}

// HistoryFile is the history in the data folder, when no other file is
// configured.
const HistoryFile = "wql_history"

// HistoryPath returns the file of the history, "" when none is wanted.
func (c *Config) HistoryPath() string { return c.inData(c.history, HistoryFile) }

// ChatHistoryFile is the history of ctxd chat in the data folder.
const ChatHistoryFile = "chat_history"

// ChatHistoryPath returns the file of the history of ctxd chat, "" when none is wanted.
func (c *Config) ChatHistoryPath() string { return c.inData(c.said, ChatHistoryFile) }

// DeclinedFile lists, in the data folder, the folders that the user of an editor does not want to be imported.
const DeclinedFile = "declined_folders"

// DeclinedPath returns the file of the folders that are not to be imported.
func (c *Config) DeclinedPath() string { return filepath.Join(c.Data, DeclinedFile) }

// inData returns a file that is set: NoLogFile is none, "" that of a name in the data folder.
func (c *Config) inData(set, name string) string {
	switch set {
	case NoLogFile:
		return ""
	case "":
		return filepath.Join(c.Data, name)
	}
	return set
}

// Assignments reads the values of --set KEY=VALUE.
func Assignments(list []string) (Given, error) {
	known, flags := Default(), Given{}
	for _, word := range list {
		key, text, ok := strings.Cut(word, "=")
		if !ok && nameable(word) == word {
			return nil, term.Misuse(fmt.Sprintf("--set %q has no equals sign", word),
				"ctxd serve --set limits.connections=100")
		}
		known.nameProvider(key)
		if known.Setting(key) == nil {
			return nil, &Error{Key: nameable(key), At: Origin{Source: fromFlag, where: "--set"}, Fault: known.unknownSetting(key)}
		}
		flags[key] = append(flags[key], text)
	}
	return flags, nil
}

func pointers(list []string) []*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// Setting returns the setting of a key, or nil.
func (c *Config) Setting(key string) *Setting {
	for _, s := range c.Settings {
		if s.key == key {
			return s
		}
	}
	return nil
}

// sections are the maps of the configuration file: what keys have before a dot.
func (c *Config) sections() []string {
	var out []string
	for _, s := range c.Settings {
		for i, r := range s.key {
			if r == '.' && !slices.Contains(out, s.key[:i]) {
				out = append(out, s.key[:i])
			}
		}
	}
	return out
}

// Keys returns the keys of all settings.
func (c *Config) Keys() []string {
	out := make([]string, len(c.Settings))
	for i, s := range c.Settings {
		out[i] = s.key
	}
	return out
}

// former were settings that nobody needed.
var former = []string{"context.reports", "limits.writeStall", "limits.initializeTimeout"}

// unknownSetting is the error for a key that there is no setting of.
func (c *Config) unknownSetting(key string) *fault.Error {
	if nameable(key) != key {
		return fault.New(fault.Invalid, "a key stands where the name of a setting should").
			WithHint("chat.providers.NAME.key says where a key is found; replace one that was shown")
	}
	if slices.ContainsFunc(former, func(f string) bool { return f == key || strings.HasPrefix(f, key+".") }) {
		return fault.New(fault.Invalid, "%q is no setting any more", key).WithHint("leave it out: it is a constant, with what was its default")
	}
	e := fault.New(fault.Invalid, "there is no setting %q", key).WithHint("ctxd config lists the settings")
	if near := text.Nearest(key, append(c.Keys(), c.sections()...)); len(near) > 0 {
		e.Hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return e
}

// defaultSnapshotAfter is the size of the journal after which the whole state is
// written anew.
const defaultSnapshotAfter = 64 << 20

// Default returns what holds when nothing is configured.
func Default() *Config {
	c := &Config{
		Store:    Store{Durability: kv.Strict.String(), SnapshotAfter: defaultSnapshotAfter, Room: rpc.DefaultDiskThresholds, Sync: Sync{Offline: OfflineRefuse}},
		Embedder: Embedder{Kind: Auto, Endpoint: Endpoint{Timeout: defaultEmbeddingTimeout}, Runner: Runner{Idle: defaultRunnerIdle}},
		Reranker: Reranker{Kind: NoReranker, Timeout: embed.RerankTimeout},
		Chat:     defaultChat(),
		Weights:  Weights{Lexical: defaultLexicalWeight, Semantic: defaultSemanticWeight},
		Fusion:   FusionByScore,
		Log:      Log{Level: "info", Format: "text", Size: DefaultLogSize, Keep: DefaultLogKeep},
		Limits:   rpc.DefaultLimits(),
		Records: Records{
			Entities: entities.Limits{Name: entities.MaxName, FieldBytes: entities.MaxFieldBytes, Fields: entities.MaxFields},
			Memory:   memory.Limits{Bank: memory.MaxBank, Working: memory.WorkingLife, History: memory.HistoryLife},
			MaxBody:  notes.MaxBody, MaxBook: books.MaxBytes, ColdStart: gather.DefaultColdStart, AskForOutcome: AskMCP,
		},
	}
	c.Records.Vault.Attachments = books.AttachmentsAuto
	c.Records.Features = defaultFeatures()
	c.Settings = slices.Concat(c.daemonSettings(), c.syncSettings(), c.embedderSettings(), c.rerankerSettings(), c.featureSettings(), c.chatSettings(), c.limitSettings())
	for _, s := range c.Settings {
		s.Origin = Origin{Source: FromDefault}
	}
	return c
}

func (c *Config) daemonSettings() []*Setting {
	return []*Setting{
		{key: "socket", flag: "--socket", about: "socket of the daemon", value: pathOf(&c.Socket)},
		{key: "data", flag: "--data", about: "folder of the store", value: pathOf(&c.Data)},
		{key: "vaults", flag: "--vault", about: "folders of Markdown notes to import and follow", value: pathsOf(&c.Vaults)},
		{key: "idleExit", flag: "--idle-exit", about: "stop when no client has been connected for this long", value: durationOrNever(&c.IdleExit)},
		{key: "vault.exclude", about: "files and folders of vaults that are never imported; patterns as in .ctxdignore", value: patternsOf(&c.Records.Vault.Exclude)},
		{key: "vault.private", about: "folders of vaults whose notes are private; patterns as in .ctxdignore", value: patternsOf(&c.Records.Vault.Private)},
		{key: "vault.write", about: "folders of vaults whose notes clients may write; / for a whole vault, remote: true for remote connections, too. without it nothing is ever written into a vault", value: rulesOf(&c.Records.Vault.Write)},
		{key: "vault.attachments", about: "what of the PDF, Office, CSV, EPUB, HTML and text files of a followed vault is known: read, their text, which is searched and cited as that of books is; names, that they are there; auto, read where they have no more than 200 MiB together", value: wordOf(&c.Records.Vault.Attachments, books.AttachmentsAuto, books.AttachmentsRead, books.AttachmentsNames)},
		{key: "store.durability", about: "when a write is acknowledged: strict, when it is on disk; relaxed, up to a second earlier", value: wordOf(&c.Store.Durability, kv.Strict.String(), kv.Relaxed.String())},
		{key: "store.snapshotAfter", about: "size of the journal at which a snapshot of the whole store is written", value: sizeOf(&c.Store.SnapshotAfter, 64<<10, 1<<40)},
		{key: "store.room.notice", about: "room on the disk of the store under which the health mentions it; 0 for never", value: sizeOf(&c.Store.Room.Notice, 0, 1<<50)},
		{key: "store.room.warning", about: "room under which the daemon is in the state warning; 0 for none", value: sizeOf(&c.Store.Room.Warning, 0, 1<<50)},
		{key: "store.room.error", about: "room under which it is in the state error, since the next write may find none; 0 for none", value: sizeOf(&c.Store.Room.Error, 0, 1<<50)},
		{key: "log.level", flag: "--log-level", about: "lowest level that is logged", value: wordOf(&c.Log.Level, "debug", "info", "warn", "error")},
		{key: "log.format", flag: "--log-format", about: "format of the log on standard error", value: wordOf(&c.Log.Format, "text", "json")},
		{key: "log.file", flag: "--log-file", about: "log file; none, or auto for log/ctxd.log in the data folder", value: logFileOf(&c.Log.File)},
		{key: "log.size", flag: "--log-size", about: "size at which a new log file is started", value: sizeOf(&c.Log.Size, 64<<10, 1<<30)},
		{key: "log.keep", flag: "--log-keep", about: "number of old log files that are kept", value: countOf(&c.Log.Keep, 1, 1000)},
		{key: "prompts.dir", about: "folder of your own templates of what ctxd asks a model, before those that are compiled in; ctxd templates list names them", value: pathOf(&c.Prompts)},
		{key: "open.command", about: "program that ctxd open runs, with its arguments: {path}, {line} and {urlpath} stand for the file of a note; none prints them", value: stringOf((*string)(&c.Open), checkOpen)},
		{key: "memory.askForOutcome", about: "who is asked how it went with the memories that were shown before: mcp, hosts of ctxd mcp that may write; chat, the user, by the model; all; none", value: wordOf(&c.Records.AskForOutcome, AskMCP, AskChat, AskAll, AskNobody)},
		{key: "memory.coldStart.idle", about: "after how long without a message the profile comes into a conversation again", value: durationOf(&c.Records.ColdStart, time.Minute, 10*365*24*time.Hour)},
		{key: "memory.working", about: "how long a memory of the tier working lives", value: durationOf(&c.Records.Memory.Working, time.Minute, 10*365*24*time.Hour)},
		{key: "memory.history", about: "how long a memory of the tier history lives", value: durationOf(&c.Records.Memory.History, time.Minute, 10*365*24*time.Hour)},
		{key: "memory.bank", about: "number of active memories of the tier memoryBank; over it the one that is worth least is archived", value: countOf(&c.Records.Memory.Bank, 1, 100_000)},
		{key: "books.maxBytes", about: "size of the file of a book; what it unpacks to has bounds of its own", value: sizeOf(&c.Records.MaxBook, 1<<10, 1<<30)},
		{key: "wql.history", about: "history file of ctxd wql; none, or auto for wql_history in the data folder", value: logFileOf(&c.history)},
		{key: "chat.history", about: "history file of ctxd chat; none, or auto for chat_history in the data folder", value: logFileOf(&c.said)},
	}
}

// limitSettings are the limits of the protocol, by the names of rpc.Limits, and the sizes of records, as far as somebody
// may want others: for large notes, for many clients, for a slow machine. The others are constants (API-11).
func (c *Config) limitSettings() []*Setting {
	l, r := &c.Limits, &c.Records
	list := []*Setting{
		{key: "messageBytes", about: "size of a message", value: sizeOf(&l.MessageBytes, 1<<10, 1<<30)},
		{key: "batch", about: "requests in a batch", value: countOf(&l.Batch, 1, 100_000)},
		{key: "inFlight", about: "unanswered requests on a connection", value: countOf(&l.InFlight, 1, 10_000)},
		{key: "jobs", about: "concurrent jobs of each kind on a connection", value: countOf(&l.Jobs, 1, 100)},
		{key: "outboundBytes", about: "size of the replies that wait to be read on a connection", value: sizeOf(&l.OutboundBytes, 64<<10, 4<<30)},
		{key: "frameTimeout", about: "how long a message may take to arrive", value: durationOf(&l.FrameTimeout, 10*time.Millisecond, time.Hour)},
		{key: "connections", about: "open connections", value: countOf(&l.Connections, 1, 100_000)},
		{key: "readTimeout", about: "how long a read may run", value: durationOf(&l.ReadTimeout, 10*time.Millisecond, time.Hour)},
		{key: "bodyBytes", about: "size of the body of a note", value: sizeOf(&r.MaxBody, 1<<10, 32<<20)},
		{key: "typeFields", about: "number of fields of a type", value: countOf(&r.Entities.Fields, 1, 10_000)},
	}
	for _, s := range list {
		s.key = "limits." + s.key
	}
	return list
}

// Said reports whether a setting was made for this process alone.
func (s *Setting) Said() bool { return s.Origin.Source == fromFlag || s.Origin.Source == fromEnv }
