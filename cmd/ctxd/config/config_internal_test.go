package config

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// fileOf writes a configuration file and returns its path.
func fileOf(t testing.TB, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// emptyEnvironment empties the environment of what configures ctxd.
func emptyEnvironment(t *testing.T) {
	t.Helper()
	for _, s := range Default().Settings {
		t.Setenv(s.Env(), "")
	}
}

func TestRPC1_FlagBeforeEnvironmentBeforeFileBeforeDefault(t *testing.T) {
	emptyEnvironment(t)
	p := fileOf(t, "limits:\n  batch: 11\n  jobs: 12\n  inFlight: 13\nvaults: [/one, /two]\n")
	t.Setenv("CTXD_LIMITS_BATCH", "21")
	t.Setenv("CTXD_LIMITS_JOBS", "22")
	t.Setenv("CTXD_VAULTS", strings.Join([]string{"/three", "/four"}, string(os.PathListSeparator)))
	c, err := Load(p, Given{"limits.batch": {"31"}, "idleExit": {"90s"}})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][2]string{
		"limits.batch":      {"31", fromFlag + " --set"},
		"idleExit":          {"1m30s", fromFlag + " --idle-exit"},
		"limits.jobs":       {"22", fromEnv + " $CTXD_LIMITS_JOBS"},
		"limits.inFlight":   {"13", fromFile + " " + p + ":4"},
		"limits.typeFields": {"200", FromDefault + " "},
	} {
		s := c.Setting(key)
		if s.Text() != want[0] || s.Origin.Source+" "+s.Origin.where != want[1] {
			t.Errorf("%s is %s from %v, want %v", key, s.Text(), s.Origin, want)
		}
	}
	if runtime.GOOS != "windows" {
		if diff := cmp.Diff([]string{"/three", "/four"}, c.Vaults); diff != "" {
			t.Error(diff)
		}
	}
}

func TestConfigFile_WhatIsTaken(t *testing.T) {
	emptyEnvironment(t)
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
		{"vault: {write: [{folder: '/In, box/'}]}", "vault.write", "folder=/In, box/"},
		{"vault: {write: [/]}", "vault.write", "folder=/"},
		{"vault:\n  write:\n  - folder: /\n    remote: true\n    vault: Work", "vault.write", "vault=Work,remote=true,folder=/"},
		{"vault: {write: ['vault=Work,folder=a=b']}", "vault.write", "vault=Work,folder=a=b"},
	} {
		conf, err := Load(fileOf(t, c.text), nil)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := conf.Setting(c.key).Text(); got != c.want {
			t.Errorf("%q: %s is %q, want %q", c.text, c.key, got, c.want)
		}
	}
}

func TestConfigFile_WhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	emptyEnvironment(t)
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
		{"socket: x", "socket", 1, "not an absolute path"},
		{"data: ~root/x", "data", 1, "not an absolute path"},
		{"data: ''", "data", 1, "is empty|not an absolute path"},
		{`data: "/a\0b"`, "data", 1, "zero byte"},
		{"socket: /" + strings.Repeat("x", 200), "socket", 1, "201 bytes, at most 103"},
		{"limits:\n  batch: 1MiB", "limits.batch", 2, "not a whole number.*without a unit"},
		{"limits:\n  batch: true", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 1.5", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 0x10", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: 99999999999999999999", "limits.batch", 2, "not a whole number"},
		{"limits:\n  batch: -1", "limits.batch", 2, "out of range.*1 to 100000"},
		{"limits:\n  batch: [1, 2]", "limits.batch", 2, "not a list"},
		{"limits:\n  batch: {a: 1}", "limits.batch", 2, "a string or a number"},
		{"limits:\n  messageBytes: 16 megs", "limits.messageBytes", 2, "not a size.*16MiB"},
		{"limits:\n  messageBytes: 1.5MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: -1MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: 9223372036854775807GiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: MiB", "limits.messageBytes", 2, "not a size"},
		{"limits:\n  messageBytes: 0", "limits.messageBytes", 2, `"0" is out of range.*1KiB to 1GiB`},
		{"limits:\n  frameTimeout: 30", "limits.frameTimeout", 2, "no unit.*30s"},
		{"limits:\n  frameTimeout: -30", "limits.frameTimeout", 2, "not a duration"},
		{"limits:\n  frameTimeout: never", "limits.frameTimeout", 2, "not a duration"},
		{"limits:\n  frameTimeout: -3s", "limits.frameTimeout", 2, "not a duration"},
		{"limits:\n  frameTimeout: 1d", "limits.frameTimeout", 2, "not a duration"},
		{"limits:\n  outboundBytes: 1MiB", "limits.outboundBytes", 2, "limits.bodyBytes .4MiB. is more than"},
		{"log:\n  level: loud", "log.level", 2, "not one of debug, info, warn, error"},
		{"log:\n  level: *a", "log.level", 2, "a string or a number"},
		{"log:\n  level: !!str debug", "log.level", 2, "a string or a number"},
		{"vaults: [[a]]", "vaults", 1, "must hold strings"},
		{"vaults:\n- /a\n- b", "vaults", 1, "not an absolute path"},
		{"vault: {write: [{vault: Work}]}", "vault.write", 1, "the folder is missing.*whole vault"},
		{"vault: {write: [{folder: /, mode: 1}]}", "vault.write", 1, "no member \"mode\".*vault, remote, folder"},
		{"vault: {write: [{folder: /, remote: maybe}]}", "vault.write", 1, "remote=maybe"},
		{"vault: {write: [{folder: ../up}]}", "vault.write", 1, "no folder within a vault"},
		{"vault: {write: [{folder: [a]}]}", "vault.write", 1, "no name with a value"},
		{"vault: {write: ['']}", "vault.write", 1, "the folder is missing"},
		{"limits.batch: 5\nlimits:\n  batch: 6", "limits.batch", 3, "twice, first in line 1"},
		{"limits:\n  batch: 5\n  batch: 6", "", 3, "twice"},
		{"limits: 5", "", 1, "limits must hold settings"},
		{"log: &a\n  level: debug", "", 1, "log must hold settings"},
		{"- a\n- b", "", 1, "must hold settings"},
		{"just text", "", 1, "must hold settings"},
		{"\xff\xfe", "", 1, "must hold settings"},
		{"<<: {a: 1}", "", 1, "not the name of a setting"},
		{"? a\n: b", "", 1, "not the name of a setting"},
		{"a: b: c", "", 1, "YAML is not valid"},
		{"limits:\n\tbatch: 1", "", 2, "not with tabs"},
		{"log:\n  level: \"debug", "", 2, "quote"},
		{"log:\n  level: info\n---\nlog:\n  level: warn\n", "", 4, "second document"},
		{strings.Repeat("[", 200), "", 1, "nested too deeply"},
		{"a:\n" + strings.Repeat(" ", 200) + "b: 1", "", 2, "nested too deeply"},
		{"a: |\n" + strings.Repeat("\n", 300) + "b", "", 252, "hundreds of blank lines"},
		{"# " + strings.Repeat("x", maxConfigFile), "", 0, "larger than 32KiB"},
	} {
		p := fileOf(t, c.text)
		_, err := Load(p, nil)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40q: %v", c.text, err)
			continue
		}
		said := e.Error() + " | " + e.Fault.Hint
		if e.Key != c.key || e.At.Line != c.line || e.Fault.Kind != fault.Invalid || !regexp.MustCompile(c.want).MatchString(said) {
			t.Errorf("%.40q: key %q, line %d: %s\nwant %q, %d: %s", c.text, e.Key, e.At.Line, said, c.key, c.line, c.want)
		}
		if at := place(p, c.line).where; !strings.HasPrefix(said, at+": ") {
			t.Errorf("%.40q: %s does not begin with %s", c.text, said, at)
		}
	}
}

func TestConfig_WrongInEnvironmentAndFlags(t *testing.T) {
	emptyEnvironment(t)
	p := fileOf(t, "")
	t.Setenv("CTXD_LIMITS_BATCH", "many")
	_, err := Load(p, Given{"limits.batch": {"5"}}) // what is overruled is checked, too
	var e *Error
	if !errors.As(err, &e) || e.Error() != `$CTXD_LIMITS_BATCH: limits.batch: "many" is not a whole number` {
		t.Error(err)
	}
	t.Setenv("CTXD_LIMITS_BATCH", "")
	_, err = Load(p, Given{"limits.batch": {"5", "6"}})
	if !errors.As(err, &e) || term.ExplainError(err).Code != term.ExitMisused {
		t.Errorf("two values for one setting: %v", err)
	}
	if runtime.GOOS != "windows" {
		t.Setenv("XDG_RUNTIME_DIR", "/"+strings.Repeat("x", 200))
		_, err = Load(p, nil)
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), "the socket path has") {
			t.Errorf("a default that is too long: %v", err)
		}
	}
	for _, set := range []string{"limits.batch", "limits.bach=3", "=3"} {
		if _, err := Assignments([]string{set}); err == nil || term.ExplainError(err).Code != term.ExitMisused {
			t.Errorf("--set %s: %v", set, err)
		}
	}
}

// TestConfig_AListOfTheFileIsNoPattern: it would match nothing, and notes that are meant to be private would not be so.
func TestConfig_AListOfTheFileIsNoPattern(t *testing.T) {
	emptyEnvironment(t)
	for text, ok := range map[string]bool{
		`["/Journal/"]`: false, "[/Journal/]": false, "['a', 'b']": false, "[a,b]": false,
		"/Journal/": true, "[Jj]ournal/": true, "/a[0-9]": true, "[ab]": true, "[a]/[b]": true,
	} {
		given, err := Assignments([]string{"vault.private=" + text})
		if err == nil {
			_, err = Load(fileOf(t, ""), given)
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestConfig_VariablesThatSetNothing(t *testing.T) {
	for _, c := range []struct{ pair, hint string }{
		{"CTXD_LIMITS_BACH=3", "did you mean $CTXD_LIMITS_BATCH?"},
		{"CTXD_LOG_LEVELS=debug", "did you mean $CTXD_LOG_LEVEL?"},
		{"CTXD_LIMITS_FRAMETIMEOUT=1s", "did you mean $CTXD_LIMITS_FRAME_TIMEOUT?"},
		{"CTXD_LOG_SOMETHING_ELSE_ALTOGETHER=1", "ctxd config --help lists the settings"},
	} {
		err := Default().checkEnvironment([]string{"CTXD_LOG_LEVEL=info", c.pair})
		name, _, _ := strings.Cut(c.pair, "=")
		if f := term.ExplainError(err); f.Code != term.ExitError || f.Message != "$"+name+": no setting has this environment variable" || f.Hint != c.hint {
			t.Errorf("%s: %+v", c.pair, f)
		}
	}
	others := []string{"CTXD_LIMITS_BATCH=3", "CTXD_LOG_LEVELS=", "CTXD_EDITOR=x", "CTXD_LOG=x", "PATH=/bin", "=C:=x"}
	if err := Default().checkEnvironment(others); err != nil {
		t.Error(err)
	}
}

func TestSEC1_AConfigThatOthersCanWriteIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists, not modes, say who can write a file on Windows")
	}
	emptyEnvironment(t)
	p := fileOf(t, "limits: {batch: 3}")
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o400: true, 0o620: false, 0o602: false, 0o666: false} {
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Load(p, nil)
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
	if _, err := Load(p, nil); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("a file of somebody else: %v", err)
	}
}

func TestConfigFile_ThatIsNone(t *testing.T) {
	emptyEnvironment(t)
	dir := t.TempDir()
	_, err := Load(dir, nil)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Load(os.DevNull, nil); err != nil {
		t.Errorf("none: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml"), nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a file that a flag names must exist: %v", err)
	}
}

// The file that --init makes changes nothing, and still does when every setting
// in it is put into effect, but for the paths, which are examples.
// Every setting can be written below the first part of its key.
func TestConfigFile_EveryPrefixIsASection(t *testing.T) {
	emptyEnvironment(t)
	for _, s := range Default().Settings {
		parts := strings.Split(s.key, ".")
		if len(parts) == 1 {
			continue
		}
		var text strings.Builder
		for i, p := range parts {
			text.WriteString(strings.Repeat("  ", i) + p + ":\n")
		}
		if _, err := Load(fileOf(t, text.String()), nil); err != nil {
			t.Errorf("%s: %v", s.key, err)
		}
	}
}

func TestConfigInit_HoldsEverySettingAtItsDefault(t *testing.T) {
	emptyEnvironment(t)
	p := filepath.Join(t.TempDir(), "new", "config.yaml")
	if err := makeConfig(p); err != nil {
		t.Fatal(err)
	}
	if err := makeConfig(p); fault.KindOf(err) != fault.Conflict {
		t.Errorf("made over the first one: %v", err)
	}
	untouched, err := Load(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	effective := regexp.MustCompile(`(?m)^( *)# ([a-z][A-Za-z.]*: )`).ReplaceAllString(template(), "$1$2")
	all, err := Load(fileOf(t, effective), nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, effective)
	}
	for i, s := range all.Settings {
		if untouched.Settings[i].Origin.Source != FromDefault || s.Origin.Source != fromFile {
			t.Errorf("%s is from %v and %v", s.key, untouched.Settings[i].Origin, s.Origin)
		}
		if samples[s.key] == "" && s.Text() != untouched.Settings[i].Text() {
			t.Errorf("%s stands as %s, and is %s", s.key, s.Text(), untouched.Settings[i].Text())
		}
	}
}

func TestSettings_AreShownAsTheyAreRead(t *testing.T) {
	for _, n := range []int64{1, 1023, 1024, 1 << 20, 3 << 30, 1<<20 + 1} {
		if back, err := readSize(ShowSize(n)); err != nil || back != n {
			t.Errorf("%d is shown as %s, read as %d: %v", n, ShowSize(n), back, err)
		}
	}
	for text, want := range map[string]string{"90s": "1m30s", "60m": "1h", "3600s": "1h", "61m": "1h1m", "1h30s": "1h0m30s", "10ms": "10ms", "20m": "20m", "10h": "10h"} {
		n, err := readDuration(text)
		if err != nil || showDuration(n) != want {
			t.Errorf("%s is shown as %s, want %s: %v", text, showDuration(n), want, err)
		}
	}
	seen := map[string]bool{}
	for _, s := range Default().Settings {
		if seen[s.Env()] || !regexp.MustCompile(`^CTXD_[A-Z_]+$`).MatchString(s.Env()) || s.about == "" {
			t.Errorf("%s: %s: %q", s.key, s.Env(), s.about)
		}
		seen[s.Env()] = true
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, s := range Default().Settings {
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
		c := Default()
		c.Path = "config.yaml"
		err := (&fileReader{config: c, seen: map[string]int{}}).read([]byte(text))
		var e *Error
		switch {
		case err == nil:
			for _, s := range c.Settings {
				if s.Origin.Source == fromFile && !s.list { // what is shown can be given
					shown := s.Text()
					if err := s.set([]string{shown}); err != nil || s.Text() != shown {
						t.Errorf("%s is shown as %q, then %q: %v", s.key, shown, s.Text(), err)
					}
				}
			}
		case !errors.As(err, &e) || e.Fault.Msg == "" || e.At.Line < 0 || e.At.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+2:
			t.Errorf("%#v of %q", err, text)
		}
	})
}
