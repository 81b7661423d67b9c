package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/adrg/xdg"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// envConfig is the environment variable that names the configuration file.
const envConfig = "CTXD_CONFIG"

// config is how ctxd is set up: flags, else the environment, else the file,
// else the defaults. loadConfig makes one; it does not change later.
type config struct {
	socket   string
	data     string        // folder of the store
	vaults   []string      // folders that are followed from the start
	idleExit time.Duration // 0: the daemon does not end by itself
	log      logConfig
	store    storeConfig
	embedder embedderConfig
	weights  searchWeights
	limits   rpc.Limits
	records  roomLimits
	history  string // file of the history of ctxd wql, noLogFile for none; "": see historyPath

	path     string // of the file, whether it is there or not
	present  bool
	settings []*setting // of the members above, in the order they are shown in
}

// vaultConfig is what holds for the files of every vault. Both are patterns as in
// .ctxdignore.
type vaultConfig struct {
	exclude []string // never read
	private []string // folders whose notes are private, whatever they say
}

// logConfig is how the log of a daemon is kept.
type logConfig struct {
	level  string // debug, info, warn or error
	format string // of standard error: text or json
	file   string // noLogFile for none; "": see logOptions
	size   int64  // bytes of a file, after which the next one is begun
	keep   int    // full files that are kept
}

// storeConfig is how the store is kept.
type storeConfig struct {
	durability    string // strict or relaxed
	snapshotAfter int64  // bytes of journal
}

// roomLimits bound what the rooms take and keep.
type roomLimits struct {
	vault    vaultConfig
	entities entities.Limits
	maxBody  int // bytes of the text of a note
	reports  int // of prompts
}

// setting is one thing that can be configured.
type setting struct {
	key   string // as in the file, with dots: limits.batch
	flag  string // of ctxd serve that sets it alone; "" when only --set does
	about string // for people: what it is, in a few words
	value
	origin origin
}

// Source is where the value of a setting can come from, weakest first.
const (
	fromDefault = "default"
	fromFile    = "file"
	fromEnv     = "environment"
	fromFlag    = "flag"
)

// origin is where the value of a setting came from.
type origin struct {
	source string
	where  string // "config.yaml:3", "$CTXD_DATA", "--socket"; "" for a default
	file   string // the configuration file, when it is from there
	line   int    // in it, 0 when it can't be told
}

// env returns the environment variable that sets a setting:
// CTXD_LIMITS_WRITE_STALL for limits.writeStall.
func (s *setting) env() string {
	var b strings.Builder
	b.WriteString("CTXD_")
	for _, r := range s.key {
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

// given are the values that flags give, by the key of their setting.
type given map[string][]string

// loadConfig finds out how ctxd is set up. path is the file that a flag names,
// "" for the one in the user's folder for configuration, which need not be
// there. Everything that was said is checked, also where something stronger
// overrules it. The errors are *configError and *usageError.
func loadConfig(path string, flags given) (*config, error) {
	c := defaultConfig()
	if err := c.readFile(path); err != nil {
		return nil, err
	}
	if err := c.checkEnvironment(os.Environ()); err != nil {
		return nil, err
	}
	for _, s := range c.settings {
		if err := s.take(flags[s.key]); err != nil {
			return nil, err
		}
	}
	return c, c.finish()
}

// config finds out how ctxd is set up, with the flags of every command and those
// of this one.
func (a *app) config(flags given) (*config, error) {
	all := given{}
	maps.Copy(all, flags)
	if a.Socket != "" {
		all["socket"] = []string{a.Socket}
	}
	return loadConfig(a.Config, all)
}

// checkEnvironment refuses variables of the sections that set nothing: their
// names are misspelt. What else begins with CTXD_ may be somebody else's.
func (c *config) checkEnvironment(environ []string) error {
	names := make([]string, len(c.settings))
	for i, s := range c.settings {
		names[i] = s.env()
	}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		ours := slices.ContainsFunc(sections, func(section string) bool {
			return strings.HasPrefix(name, "CTXD_"+strings.ToUpper(section)+"_")
		})
		if !ours || text == "" || slices.Contains(names, name) {
			continue
		}
		e := fault.New(fault.Invalid, "no setting has that variable").WithHint("ctxd config --help lists the settings")
		if near := nearest(name, names); len(near) > 0 {
			e.Hint = "did you mean $" + near[0] + "?"
		}
		return &configError{at: origin{source: fromEnv, where: "$" + name}, fault: e}
	}
	return nil
}

// take lets the environment and the flags overrule what a setting has.
func (s *setting) take(flag []string) error {
	if text := os.Getenv(s.env()); text != "" {
		words := []string{text}
		if s.list {
			words = filepath.SplitList(text)
		}
		if err := s.set(words); err != nil {
			return &configError{key: s.key, at: origin{source: fromEnv, where: "$" + s.env()}, fault: err}
		}
		s.origin = origin{source: fromEnv, where: "$" + s.env()}
	}
	if len(flag) == 0 {
		return nil
	}
	at := origin{source: fromFlag, where: firstOf(s.flag, "--set")}
	if err := s.set(flag); err != nil {
		return &configError{key: s.key, at: at, fault: err}
	}
	s.origin = at
	return nil
}

// finish sets what depends on something else, and makes paths absolute.
func (c *config) finish() error {
	loc, err := socket.Resolve(c.socket)
	var bad *fault.Error
	if errors.As(err, &bad) {
		return &configError{key: "socket", at: c.setting("socket").origin, fault: bad}
	} else if err != nil {
		return err
	}
	c.socket = loc.Path
	if c.data == "" {
		c.data = filepath.Join(xdg.DataHome, "ctxd")
	}
	local := append([]*string{&c.data}, pointers(c.vaults)...)
	for _, file := range []*string{&c.log.file, &c.history, &c.embedder.table, &c.embedder.runner.path, &c.embedder.runner.model} {
		if *file != "" && *file != noLogFile {
			local = append(local, file)
		}
	}
	for _, p := range local {
		if *p, err = filepath.Abs(*p); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the working directory can't be told")
		}
	}
	if c.weights == (searchWeights{}) {
		s := c.setting("search.weights.lexical")
		return &configError{key: s.key, at: s.origin, fault: fault.New(fault.Invalid, "%s and search.weights.semantic are both 0: nothing would count", s.key).
			WithHint("give one of them 1")}
	}
	if err := c.embedder.check(); err != nil {
		key := strings.TrimSuffix("embedding."+err.Field, ".")
		return &configError{key: key, at: c.setting(key).origin, fault: err}
	}
	if int64(c.records.maxBody) > c.limits.OutboundBytes {
		body, outbound := c.setting("limits.bodyBytes"), c.setting("limits.outboundBytes")
		said := outbound
		if said.origin.source == fromDefault {
			said = body
		}
		return &configError{key: said.key, at: said.origin, fault: fault.New(fault.Invalid,
			"%s (%s) is more than %s (%s): such a note could not be sent", body.key, body.text(), outbound.key, outbound.text()).
			WithHint("make %s smaller, or %s larger", body.key, outbound.key)}
	}
	return nil
}

// options returns how the log is kept.
func (l *logConfig) options() logOptions {
	return logOptions{File: l.file, Level: l.level, Format: l.format, MaxSize: l.size, Keep: l.keep}
}

// options returns how the store is opened, by whoever does: a daemon adds that
// older records are upgraded.
func (c *storeConfig) options() kv.Options {
	opts := kv.Options{Format: storeFormat, SnapshotAfter: c.snapshotAfter}
	if c.durability == kv.Relaxed.String() {
		opts.Durability = kv.Relaxed
	}
	return opts
}

// daemon returns what a daemon is started with.
func (c *config) daemon(log *slog.Logger) daemonOptions {
	return daemonOptions{socket: c.socket, data: c.data, log: log, idleExit: c.idleExit, limits: c.limits, records: c.records, store: c.store, embedder: c.embedder, weights: c.weights}
}

// assignments reads the values of --set KEY=VALUE.
func assignments(list []string) (given, error) {
	known, flags := defaultConfig(), given{}
	for _, word := range list {
		key, text, ok := strings.Cut(word, "=")
		if !ok {
			return nil, &usageError{fmt.Sprintf("--set %q has no equals sign", word), "ctxd serve --set limits.connections=100"}
		}
		if known.setting(key) == nil {
			return nil, &configError{key: key, at: origin{source: fromFlag, where: "--set"}, fault: known.unknownSetting(key)}
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

// setting returns the setting of a key, or nil.
func (c *config) setting(key string) *setting {
	for _, s := range c.settings {
		if s.key == key {
			return s
		}
	}
	return nil
}

// sections are the maps of the configuration file.
var sections = []string{"vault", "store", "log", "context", "wql", "embedding", "runner", "search", "search.weights", "limits"}

// keys returns the keys of all settings.
func (c *config) keys() []string {
	out := make([]string, len(c.settings))
	for i, s := range c.settings {
		out[i] = s.key
	}
	return out
}

// unknownSetting is the error for a key that there is no setting of.
func (c *config) unknownSetting(key string) *fault.Error {
	e := fault.New(fault.Invalid, "there is no setting %q", key).WithHint("ctxd config lists the settings")
	if near := nearest(key, append(c.keys(), sections...)); len(near) > 0 {
		e.Hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return e
}

// defaultSnapshotAfter is the size of the journal after which the whole state is
// written anew.
const defaultSnapshotAfter = 64 << 20

// defaultConfig returns what holds when nothing is configured.
func defaultConfig() *config {
	c := &config{
		store:    storeConfig{durability: kv.Strict.String(), snapshotAfter: defaultSnapshotAfter},
		embedder: embedderConfig{kind: auto, endpoint: endpointConfig{timeout: defaultEmbeddingTimeout}, runner: runnerConfig{idle: defaultRunnerIdle}},
		weights:  searchWeights{lexical: defaultLexicalWeight, semantic: defaultSemanticWeight},
		log:      logConfig{level: "info", format: "text", size: defaultLogSize, keep: defaultLogKeep},
		limits:   rpc.DefaultLimits(),
		records: roomLimits{
			entities: entities.Limits{Name: entities.MaxName, FieldBytes: entities.MaxFieldBytes, Fields: entities.MaxFields},
			maxBody:  notes.MaxBody, reports: gather.DefaultReports,
		},
	}
	c.settings = slices.Concat(c.daemonSettings(), c.embedderSettings(), c.limitSettings())
	for _, s := range c.settings {
		s.origin = origin{source: fromDefault}
	}
	return c
}

func (c *config) daemonSettings() []*setting {
	return []*setting{
		{key: "socket", flag: "--socket", about: "socket of the daemon", value: pathOf(&c.socket)},
		{key: "data", flag: "--data", about: "folder of the store", value: pathOf(&c.data)},
		{key: "vaults", flag: "--vault", about: "folders of Markdown notes to read at the start and follow", value: pathsOf(&c.vaults)},
		{key: "idleExit", flag: "--idle-exit", about: "end when no client has been connected for that long", value: durationOrNever(&c.idleExit)},
		{key: "vault.exclude", about: "files and folders of vaults that are never read; patterns as in .ctxdignore", value: patternsOf(&c.records.vault.exclude)},
		{key: "vault.private", about: "folders of vaults whose notes no remote model gets; patterns as in .ctxdignore", value: patternsOf(&c.records.vault.private)},
		{key: "store.durability", about: "when a write is answered: strict, once it is on the disk; relaxed, up to a second before", value: wordOf(&c.store.durability, kv.Strict.String(), kv.Relaxed.String())},
		{key: "store.snapshotAfter", about: "size of the journal after which the whole store is written anew", value: sizeOf(&c.store.snapshotAfter, 64<<10, 1<<40)},
		{key: "log.level", flag: "--log-level", about: "least level that is logged", value: wordOf(&c.log.level, "debug", "info", "warn", "error")},
		{key: "log.format", flag: "--log-format", about: "form of the log on standard error", value: wordOf(&c.log.format, "text", "json")},
		{key: "log.file", flag: "--log-file", about: "file to log to; none, or auto for log/ctxd.log in the data folder", value: logFileOf(&c.log.file)},
		{key: "log.size", flag: "--log-size", about: "size of a log file, after which the next one is begun", value: sizeOf(&c.log.size, 64<<10, 1<<30)},
		{key: "log.keep", flag: "--log-keep", about: "full log files that are kept", value: countOf(&c.log.keep, 1, 1000)},
		{key: "context.reports", about: "reports of the last prompts that are kept in memory, for context.recent", value: countOf(&c.records.reports, 1, 1000)},
		{key: "wql.history", about: "file of the history of the prompt ctxd wql; none, or auto for wql_history in the data folder", value: logFileOf(&c.history)},
	}
}

// limitSettings are the limits of the protocol, by the names of rpc.Limits, and
// the sizes of records.
func (c *config) limitSettings() []*setting {
	l, r := &c.limits, &c.records
	list := []*setting{
		{key: "messageBytes", about: "a message; a larger one is answered with an error", value: sizeOf(&l.MessageBytes, 1<<10, 1<<30)},
		{key: "textBytes", about: "a text in the parameters of a call, bodies of notes apart", value: sizeOf(&l.TextBytes, 1<<10, 1<<30)},
		{key: "headerBytes", about: "the header of a message", value: sizeOf(&l.HeaderBytes, 64, 1<<20)},
		{key: "nesting", about: "depth of JSON", value: countOf(&l.Nesting, 8, 1000)},
		{key: "batch", about: "requests of a batch", value: countOf(&l.Batch, 1, 100_000)},
		{key: "inFlight", about: "unanswered requests of a connection", value: countOf(&l.InFlight, 1, 10_000)},
		{key: "concurrency", about: "reads of a connection that run at a time", value: countOf(&l.Concurrency, 1, 1000)},
		{key: "running", about: "reads of all connections that run at a time", value: countOf(&l.Running, 1, 1000)},
		{key: "jobs", about: "jobs of a connection that run at a time", value: countOf(&l.Jobs, 1, 100)},
		{key: "outboundBytes", about: "replies that wait for the reader of a connection", value: sizeOf(&l.OutboundBytes, 64<<10, 4<<30)},
		{key: "outboundTotal", about: "replies that wait, of all connections", value: sizeOf(&l.OutboundTotal, 64<<10, 64<<30)},
		{key: "inboundTotal", about: "messages that have begun to arrive, of all connections", value: sizeOf(&l.InboundTotal, 1<<20, 64<<30)},
		{key: "writeStall", about: "how long a client may read nothing while replies wait", value: durationOf(&l.WriteStall, 10*time.Millisecond, time.Hour)},
		{key: "frameTimeout", about: "how long a message may take to arrive", value: durationOf(&l.FrameTimeout, 10*time.Millisecond, time.Hour)},
		{key: "connections", about: "connections at a time", value: countOf(&l.Connections, 1, 100_000)},
		{key: "readTimeout", about: "how long a call that changes nothing may run", value: durationOf(&l.ReadTimeout, 10*time.Millisecond, time.Hour)},
		{key: "nameChars", about: "characters of a title, name or alias", value: countOf(&r.entities.Name, 16, 1024)},
		{key: "bodyBytes", about: "text of a note", value: sizeOf(&r.maxBody, 1<<10, 32<<20)},
		{key: "fieldBytes", about: "all fields of an entity, as JSON", value: sizeOf(&r.entities.FieldBytes, 1<<10, 16<<20)},
		{key: "typeFields", about: "fields of a type", value: countOf(&r.entities.Fields, 1, 10_000)},
	}
	for _, s := range list {
		s.key = "limits." + s.key
	}
	return list
}
