package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
)

// configured writes a configuration file and returns its path.
func configured(t testing.TB, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// unsetAll empties the environment of what configures ctxd.
func unsetAll(t *testing.T) {
	t.Helper()
	for _, s := range defaultConfig().settings {
		t.Setenv(s.env(), "")
	}
}

// TestREL3_DurabilityIsASetting: what is configured for the store reaches it.
func TestREL3_DurabilityIsASetting(t *testing.T) {
	unsetAll(t)
	for name, c := range map[string]struct {
		file  string
		env   map[string]string
		flags given
		want  kv.Options
	}{
		"defaults":    {want: kv.Options{Durability: kv.Strict, SnapshotAfter: 64 << 20}},
		"file":        {file: "store:\n  durability: relaxed\n  snapshotAfter: 1MiB\n", want: kv.Options{Durability: kv.Relaxed, SnapshotAfter: 1 << 20}},
		"environment": {file: "store:\n  durability: strict\n", env: map[string]string{"CTXD_STORE_DURABILITY": "relaxed", "CTXD_STORE_SNAPSHOT_AFTER": "2MiB"}, want: kv.Options{Durability: kv.Relaxed, SnapshotAfter: 2 << 20}},
		"flags":       {env: map[string]string{"CTXD_STORE_DURABILITY": "relaxed"}, flags: given{"store.durability": {"strict"}, "store.snapshotAfter": {"64KiB"}}, want: kv.Options{Durability: kv.Strict, SnapshotAfter: 64 << 10}},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			conf, err := loadConfig(configured(t, c.file), c.flags)
			if err != nil {
				t.Fatal(err)
			}
			store := conf.daemon(nil).store
			opts := store.options()
			if opts.Durability != c.want.Durability || opts.SnapshotAfter != c.want.SnapshotAfter || opts.Format != storeFormat {
				t.Errorf("the store is opened with %+v, want %+v", opts, c.want)
			}
		})
	}
	for _, text := range []string{"store:\n  durability: fast\n", "store:\n  snapshotAfter: 1KiB\n", "store:\n  durabilty: strict\n"} {
		if _, err := loadConfig(configured(t, text), nil); !errors.As(err, new(*configError)) {
			t.Errorf("%q: %v, want an error of the configuration", text, err)
		}
	}
}

func TestRPC1_FlagBeforeEnvironmentBeforeFileBeforeDefault(t *testing.T) {
	unsetAll(t)
	p := configured(t, "limits:\n  batch: 11\n  jobs: 12\n  inFlight: 13\nvaults: [/one, /two]\n")
	t.Setenv("CTXD_LIMITS_BATCH", "21")
	t.Setenv("CTXD_LIMITS_JOBS", "22")
	t.Setenv("CTXD_VAULTS", strings.Join([]string{"/three", "/four"}, string(os.PathListSeparator)))
	c, err := loadConfig(p, given{"limits.batch": {"31"}, "idleExit": {"90s"}})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][2]string{
		"limits.batch":    {"31", fromFlag + " --set"},
		"idleExit":        {"1m30s", fromFlag + " --idle-exit"},
		"limits.jobs":     {"22", fromEnv + " $CTXD_LIMITS_JOBS"},
		"limits.inFlight": {"13", fromFile + " " + p + ":4"},
		"limits.nesting":  {"128", fromDefault + " "},
	} {
		s := c.setting(key)
		if s.text() != want[0] || s.origin.source+" "+s.origin.where != want[1] {
			t.Errorf("%s is %s from %v, want %v", key, s.text(), s.origin, want)
		}
	}
	if runtime.GOOS != "windows" {
		if diff := cmp.Diff([]string{"/three", "/four"}, c.vaults); diff != "" {
			t.Error(diff)
		}
	}
}

// Every limit of the protocol can be set, under its own name, and a daemon gets
// it.
func TestRPC6_EveryLimitCanBeConfigured(t *testing.T) {
	unsetAll(t)
	for i := range reflect.TypeFor[rpc.Limits]().NumField() {
		f := reflect.TypeFor[rpc.Limits]().Field(i)
		key := "limits." + f.Tag.Get("json")
		s := defaultConfig().setting(key)
		if s == nil {
			t.Errorf("there is no setting %s", key)
			continue
		}
		text, n := "123", int64(123)
		switch s.unit {
		case "ms":
			text, n = "123ms", int64(123*time.Millisecond)
		case "bytes":
			text, n = "5MiB", 5<<20
			if f.Name == "HeaderBytes" {
				text, n = "100KiB", 100<<10
			}
		}
		if f.Name == "Jobs" {
			text, n = "99", 99
		}
		c, err := loadConfig(configured(t, "limits: {"+f.Tag.Get("json")+": "+text+"}"), nil)
		if err != nil {
			t.Error(err)
			continue
		}
		want := rpc.DefaultLimits()
		reflect.ValueOf(&want).Elem().Field(i).SetInt(n)
		if diff := cmp.Diff(want, c.daemon(nil).limits); diff != "" {
			t.Errorf("%s: %s\n%s", key, text, diff)
		}
	}
	c, err := loadConfig(configured(t, "limits: {nameChars: 100, bodyBytes: 1MiB, fieldBytes: 2KiB, typeFields: 7}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.daemon(nil).records; r.entities.Name != 100 || r.maxBody != 1<<20 || r.entities.FieldBytes != 2048 || r.entities.Fields != 7 {
		t.Errorf("%+v", r)
	}
}

func TestConfigFile_WhatIsTaken(t *testing.T) {
	unsetAll(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, c := range []struct{ text, key, want string }{
		{"", "limits.batch", "1000"},
		{"# nothing\n", "limits.batch", "1000"},
		{"limits:\n  # batch: 3\n", "limits.batch", "1000"},
		{"limits:\n  batch:\n", "limits.batch", "1000"},
		{"---\nlimits:\n  batch: 3\n", "limits.batch", "3"},
		{"limits: {batch: 3}", "limits.batch", "3"},
		{"limits.batch: 3", "limits.batch", "3"},
		{`{"limits":{"batch":3}}`, "limits.batch", "3"},
		{"limits:\r\n  batch: '3' # three\r\n", "limits.batch", "3"},
		{"limits: {messageBytes: 8 mib}", "limits.messageBytes", "8MiB"},
		{"limits: {messageBytes: 8000000}", "limits.messageBytes", "8000000B"},
		{"limits: {messageBytes: 8MB}", "limits.messageBytes", "8000000B"},
		{"limits: {readTimeout: 0.5h}", "limits.readTimeout", "30m"},
		{"idleExit: 2h", "idleExit", "2h"},
		{"idleExit: never", "idleExit", "never"},
		{"idleExit: 0", "idleExit", "never"},
		{"data: ~/x y", "data", filepath.Join(home, "x y")},
		{"data: ~", "log.file", "auto"},
		{"log: {file: none}", "log.file", "none"},
		{"log: {file: auto}", "log.file", "auto"},
		{"log: {file: ~/l}", "log.file", filepath.Join(home, "l")},
		{"vaults: ~/a", "vaults", filepath.Join(home, "a")},
		{"vaults: []", "vaults", ""},
	} {
		conf, err := loadConfig(configured(t, c.text), nil)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := conf.setting(c.key).text(); got != c.want {
			t.Errorf("%q: %s is %q, want %q", c.text, c.key, got, c.want)
		}
	}
}

func TestConfigFile_WhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	unsetAll(t)
	for _, c := range []struct {
		text, key string
		line      int
		want      string // of message and hint
	}{
		{"limits:\n  mesageBytes: 1", "limits.mesageBytes", 2, "no setting .*messageBytes"},
		{"limit:\n  batch: 1", "limit", 1, "did you mean limits"},
		{"messageBytes: 1MiB", "messageBytes", 1, "did you mean limits.messageBytes"},
		{"Socket: /x", "Socket", 1, "did you mean socket"},
		{"1: 2", "1", 1, "lists the settings"},
		{"socket: x", "socket", 1, "not a whole path"},
		{"data: ~root/x", "data", 1, "not a whole path"},
		{"data: ''", "data", 1, "is empty|not a whole path"},
		{`data: "/a\0b"`, "data", 1, "zero byte"},
		{"socket: /" + strings.Repeat("x", 200), "socket", 1, "201 bytes, at most 103"},
		{"limits:\n  batch: 1MiB", "limits.batch", 2, "not a whole number.*without a unit"},
		{"limits:\n  batch: true", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 1.5", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 0x10", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 99999999999999999999", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: -1", "limits.batch", 2, "out of range.*1 to 100000"},
		{"limits:\n  batch: [1, 2]", "limits.batch", 2, "not a list"},
		{"limits:\n  batch: {a: 1}", "limits.batch", 2, "plain text or a number"},
		{"limits:\n  messageBytes: 16 megs", "limits.messageBytes", 2, "not a size.*16MiB"},
		{"limits:\n  messageBytes: 1.5MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: -1MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: 9223372036854775807GiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: 0", "limits.messageBytes", 2, `"0" is out of range.*1KiB to 1GiB`},
		{"limits:\n  writeStall: 30", "limits.writeStall", 2, "no unit.*30s"},
		{"limits:\n  writeStall: -30", "limits.writeStall", 2, "not a duration"},
		{"limits:\n  writeStall: never", "limits.writeStall", 2, "not a duration"},
		{"limits:\n  writeStall: -3s", "limits.writeStall", 2, "not a duration"},
		{"limits:\n  writeStall: 1d", "limits.writeStall", 2, "not a duration"},
		{"limits:\n  outboundBytes: 1MiB", "limits.outboundBytes", 2, "limits.bodyBytes .4MiB. is more than"},
		{"log:\n  level: loud", "log.level", 2, "none of debug, info, warn, error"},
		{"log:\n  level: *a", "log.level", 2, "plain text"},
		{"log:\n  level: !!str debug", "log.level", 2, "plain text"},
		{"vaults: [[a]]", "vaults", 1, "plain texts"},
		{"vaults:\n- /a\n- b", "vaults", 1, "not a whole path"},
		{"limits.batch: 5\nlimits:\n  batch: 6", "limits.batch", 3, "twice, first in line 1"},
		{"limits:\n  batch: 5\n  batch: 6", "", 3, "twice"},
		{"limits: 5", "", 1, "limits must hold settings"},
		{"log: &a\n  level: debug", "", 1, "log must hold settings"},
		{"- a\n- b", "", 1, "must hold settings"},
		{"just text", "", 1, "must hold settings"},
		{"\xff\xfe", "", 1, "must hold settings"},
		{"<<: {a: 1}", "", 1, "no name of a setting"},
		{"? a\n: b", "", 1, "no name of a setting"},
		{"a: b: c", "", 1, "YAML is not valid"},
		{"limits:\n\tbatch: 1", "", 2, "not with tabs"},
		{"log:\n  level: \"debug", "", 2, "quote"},
		{"log:\n  level: info\n---\nlog:\n  level: warn\n", "", 4, "second document"},
		{strings.Repeat("[", 200), "", 1, "nested too deeply"},
		{"a:\n" + strings.Repeat(" ", 200) + "b: 1", "", 2, "nested too deeply"},
		{"a: |\n" + strings.Repeat("\n", 300) + "b", "", 252, "hundreds of blank lines"},
		{"# " + strings.Repeat("x", maxConfigFile), "", 0, "larger than 32KiB"},
	} {
		p := configured(t, c.text)
		_, err := loadConfig(p, nil)
		var e *configError
		if !errors.As(err, &e) {
			t.Errorf("%.40q: %v", c.text, err)
			continue
		}
		said := e.Error() + " | " + e.fault.Hint
		if e.key != c.key || e.at.line != c.line || e.fault.Kind != fault.Invalid || !regexp.MustCompile(c.want).MatchString(said) {
			t.Errorf("%.40q: key %q, line %d: %s\nwant %q, %d: %s", c.text, e.key, e.at.line, said, c.key, c.line, c.want)
		}
		if at := place(p, c.line).where; !strings.HasPrefix(said, at+": ") {
			t.Errorf("%.40q: %s does not begin with %s", c.text, said, at)
		}
	}
}

func TestConfig_WrongInEnvironmentAndFlags(t *testing.T) {
	unsetAll(t)
	p := configured(t, "")
	t.Setenv("CTXD_LIMITS_BATCH", "many")
	_, err := loadConfig(p, given{"limits.batch": {"5"}}) // what is overruled is checked, too
	var e *configError
	if !errors.As(err, &e) || e.Error() != `$CTXD_LIMITS_BATCH: limits.batch: "many" is not a whole number` {
		t.Error(err)
	}
	t.Setenv("CTXD_LIMITS_BATCH", "")
	if _, err = loadConfig(p, given{"limits.batch": {"5", "6"}}); !errors.As(err, &e) || explain(err).Code != exitUsage {
		t.Errorf("two values for one setting: %v", err)
	}
	if runtime.GOOS != "windows" {
		t.Setenv("XDG_RUNTIME_DIR", "/"+strings.Repeat("x", 200))
		if _, err = loadConfig(p, nil); !errors.As(err, &e) || !strings.HasPrefix(e.Error(), "the socket path has") {
			t.Errorf("a default that is too long: %v", err)
		}
	}
	for _, set := range []string{"limits.batch", "limits.bach=3", "=3"} {
		if _, err := assignments([]string{set}); err == nil || explain(err).Code != exitUsage {
			t.Errorf("--set %s: %v", set, err)
		}
	}
}

func TestConfig_VariablesThatSetNothing(t *testing.T) {
	for _, c := range []struct{ pair, hint string }{
		{"CTXD_LIMITS_BACH=3", "did you mean $CTXD_LIMITS_BATCH?"},
		{"CTXD_LOG_LEVELS=debug", "did you mean $CTXD_LOG_LEVEL?"},
		{"CTXD_LIMITS_WRITESTALL=1s", "did you mean $CTXD_LIMITS_WRITE_STALL?"},
		{"CTXD_LOG_SOMETHING_ELSE_ALTOGETHER=1", "ctxd config --help lists the settings"},
	} {
		err := defaultConfig().checkEnvironment([]string{"CTXD_LOG_LEVEL=info", c.pair})
		name, _, _ := strings.Cut(c.pair, "=")
		if f := explainAny(err); f.Code != exitError || f.Message != "$"+name+": no setting has that variable" || f.Hint != c.hint {
			t.Errorf("%s: %+v", c.pair, f)
		}
	}
	others := []string{"CTXD_LIMITS_BATCH=3", "CTXD_LOG_LEVELS=", "CTXD_EDITOR=x", "CTXD_LOG=x", "PATH=/bin", "=C:=x"}
	if err := defaultConfig().checkEnvironment(others); err != nil {
		t.Error(err)
	}
}

func TestSEC1_AConfigThatOthersCanWriteIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes, say who can write a file on Windows")
	}
	unsetAll(t)
	p := configured(t, "limits: {batch: 3}")
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o400: true, 0o620: false, 0o602: false, 0o666: false} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		_, err := loadConfig(p, nil)
		if fine != (err == nil) || !fine && !strings.Contains(err.Error(), "not trusted") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if os.Getuid() != 0 {
		return // nobody else can be made the owner
	}
	if err := errors.Join(os.Chmod(p, 0o600), os.Chown(p, 65534, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfig(p, nil); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("a file of somebody else: %v", err)
	}
}

func TestConfigFile_ThatIsNone(t *testing.T) {
	unsetAll(t)
	dir := t.TempDir()
	_, err := loadConfig(dir, nil)
	var e *configError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := loadConfig(os.DevNull, nil); err != nil {
		t.Errorf("none: %v", err)
	}
	if _, err := loadConfig(filepath.Join(dir, "none.yaml"), nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a file that a flag names must exist: %v", err)
	}
}

// The file that --init makes changes nothing, and still does when every setting
// in it is put into effect, but for the paths, which are examples.
func TestConfigInit_HoldsEverySettingAtItsDefault(t *testing.T) {
	unsetAll(t)
	p := filepath.Join(t.TempDir(), "new", "config.yaml")
	if err := makeConfig(p); err != nil {
		t.Fatal(err)
	}
	if err := makeConfig(p); fault.KindOf(err) != fault.Conflict {
		t.Errorf("made over the first one: %v", err)
	}
	untouched, err := loadConfig(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	effective := regexp.MustCompile(`(?m)^( *)# ([a-z][A-Za-z.]*: )`).ReplaceAllString(template(), "$1$2")
	all, err := loadConfig(configured(t, effective), nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, effective)
	}
	for i, s := range all.settings {
		if untouched.settings[i].origin.source != fromDefault || s.origin.source != fromFile {
			t.Errorf("%s is from %v and %v", s.key, untouched.settings[i].origin, s.origin)
		}
		if samples[s.key] == "" && s.text() != untouched.settings[i].text() {
			t.Errorf("%s stands as %s, and is %s", s.key, s.text(), untouched.settings[i].text())
		}
	}
}

func TestSettings_AreShownAsTheyAreRead(t *testing.T) {
	for _, n := range []int64{1, 1023, 1024, 1 << 20, 3 << 30, 1<<20 + 1} {
		if back, err := readSize(showSize(n)); err != nil || back != n {
			t.Errorf("%d is shown as %s, read as %d: %v", n, showSize(n), back, err)
		}
	}
	for text, want := range map[string]string{"90s": "1m30s", "60m": "1h", "3600s": "1h", "61m": "1h1m", "1h30s": "1h0m30s", "10ms": "10ms", "20m": "20m", "10h": "10h"} {
		n, err := readDuration(text)
		if err != nil || showDuration(n) != want {
			t.Errorf("%s is shown as %s, want %s: %v", text, showDuration(n), want, err)
		}
	}
	seen := map[string]bool{}
	for _, s := range defaultConfig().settings {
		if seen[s.env()] || !regexp.MustCompile(`^CTXD_[A-Z_]+$`).MatchString(s.env()) || s.about == "" {
			t.Errorf("%s: %s: %q", s.key, s.env(), s.about)
		}
		seen[s.env()] = true
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, s := range defaultConfig().settings {
		f.Add(s.key + ": " + s.sample())
	}
	for _, text := range []string{
		template(), "limits: {batch: [1, {a: &b !!int 3}]}", "log:\n  level: |\n    debug\n", "? a\n: b\n", "<<: *x", "--- >\n a\n...\n---\nb", "a:\n- - - b\n",
		"%YAML 1.2\n---\na: b", "socket: \"\\u0000\"", "limits:\n\tbatch: 1", "\xef\xbb\xbflog: {level: warn}", "log: {level: 'a", "[[[[{{{{", "a: >-\n\n\n b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxConfigFile {
			return // never read
		}
		c := defaultConfig()
		c.path = "config.yaml"
		err := (&fileReader{config: c, seen: map[string]int{}}).read([]byte(text))
		var e *configError
		switch {
		case err == nil:
			for _, s := range c.settings {
				if s.origin.source == fromFile && !s.list { // what is shown can be given
					shown := s.text()
					if err := s.set([]string{shown}); err != nil || s.text() != shown {
						t.Errorf("%s is shown as %q, then %q: %v", s.key, shown, s.text(), err)
					}
				}
			}
		case !errors.As(err, &e) || e.fault.Msg == "" || e.at.line < 0 || e.at.line > strings.Count(text, "\n")+strings.Count(text, "\r")+2:
			t.Errorf("%#v of %q", err, text)
		}
	})
}
