package config

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// value is what a setting holds, and how it is read and written.
type value struct {
	list  bool
	path  bool     // of a file, or several, which the configuration file must give whole
	words []string // that are allowed, of a path beside paths; nil: anything that set takes
	// members are what an item of the list may have that is a map in the configuration file; nil: items are texts.
	members []string
	Unit    string // of raw, "" when it has none
	set     func(words []string) *fault.Error
	Text    func() string // as people write it; "" when it is empty
	raw     func() any    // as programs read it
}

// only returns the one word that a setting takes.
func only(words []string) (string, *fault.Error) {
	if len(words) != 1 {
		return "", fault.New(fault.Invalid, "it takes one value, not %d", len(words))
	}
	return words[0], nil
}

// wordOf is a value that is one of several words.
func wordOf[T ~string](at *T, allowed ...T) value {
	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}
	v := value{words: words, Text: func() string { return string(*at) }, raw: func() any { return string(*at) }}
	v.set = func(given []string) *fault.Error {
		w, err := only(given)
		if err != nil {
			return err
		}
		if slices.Contains(words, w) {
			*at = T(w)
			return nil
		}
		return fault.New(fault.Invalid, "%q is not one of %s", w, strings.Join(words, ", ")).
			WithHint("give one of %s", strings.Join(words, ", "))
	}
	return v
}

// pathOf is the path of a file or folder.
func pathOf(at *string) value {
	v := value{path: true, Text: func() string { return *at }, raw: func() any { return *at }}
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err == nil {
			err = checkPath(w)
		}
		if err == nil {
			*at = w
		}
		return err
	}
	return v
}

// Auto is the word for what is decided when the daemon starts.
const Auto = "auto"

// logFileOf is the path of the log file, or a word that says which one it is.
func logFileOf(at *string) value {
	v := pathOrAuto(at)
	v.words = append(v.words, NoLogFile)
	return v
}

// pathOrAuto is the path of a file that is looked for when none is given.
func pathOrAuto(at *string) value { return pathOrWord(at, Auto) }

// pathOrWord is the path of a file; a word stands for "".
func pathOrWord(at *string, word string) value {
	v := pathOf(at)
	v.words = []string{word}
	v.Text = func() string { return cmp.Or(*at, word) }
	v.raw = func() any { return v.Text() }
	take := v.set
	v.set = func(words []string) *fault.Error {
		err := take(words)
		if *at == word {
			*at = ""
		}
		return err
	}
	return v
}

// stringOf is any text that check lets pass.
func stringOf(at *string, check func(string) *fault.Error) value {
	v := value{Text: func() string { return *at }, raw: func() any { return *at }}
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err == nil {
			err = check(w)
		}
		if err == nil {
			*at = w
		}
		return err
	}
	return v
}

// yesOf is true or false.
func yesOf(at *bool) value {
	v := value{
		words: []string{"true", "false"}, Text: func() string { return strconv.FormatBool(*at) },
		raw: func() any { return *at },
	}
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err != nil {
			return err
		}
		yes, bad := strconv.ParseBool(strings.ToLower(w))
		if bad != nil {
			return fault.New(fault.Invalid, "%q is neither true nor false", w).WithHint("give true or false")
		}
		*at = yes
		return nil
	}
	return v
}

// numberOf is a number between two bounds, both allowed.
func numberOf(at *float64, least, most float64) value {
	show := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	v := value{Text: func() string { return show(*at) }, raw: func() any { return *at }}
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err != nil {
			return err
		}
		f, bad := strconv.ParseFloat(strings.TrimSpace(w), 64)
		switch {
		case bad != nil:
			return fault.New(fault.Invalid, "%q is not a number", w).WithHint("give a number such as 0.5")
		case !(f >= least && f <= most):
			return fault.New(fault.Invalid, "%q is out of range", w).WithHint("give %s to %s", show(least), show(most))
		}
		*at = f
		return nil
	}
	return v
}

// countOrAuto is a whole number, or nil for one that is found out.
func countOrAuto(at **int, least, most int) value {
	n := 0
	number := countOf(&n, least, most)
	v := value{Text: func() string {
		if *at == nil {
			return Auto
		}
		return strconv.Itoa(**at)
	}}
	v.raw = func() any {
		if *at == nil {
			return Auto
		}
		return **at
	}
	v.set = func(words []string) *fault.Error {
		if w, err := only(words); err == nil && strings.EqualFold(w, Auto) {
			*at = nil
			return nil
		}
		if err := number.set(words); err != nil {
			return err.WithHint("give %s, or a number from %d to %d", Auto, least, most)
		}
		given := n
		*at = &given
		return nil
	}
	return v
}

// pathsOf is a list of them.
func pathsOf(at *[]string) value {
	v := value{path: true, list: true, Text: func() string { return strings.Join(*at, string(os.PathListSeparator)) }}
	v.raw = func() any { return append([]string{}, *at...) }
	v.set = func(words []string) *fault.Error {
		for _, w := range words {
			if err := checkPath(w); err != nil {
				return err
			}
		}
		*at = append([]string{}, words...)
		return nil
	}
	return v
}

// patternsOf is a list of patterns as in .ctxdignore.
func patternsOf(at *[]string) value {
	v := value{list: true, Text: func() string { return strings.Join(*at, string(os.PathListSeparator)) }}
	v.raw = func() any { return append([]string{}, *at...) }
	v.set = func(words []string) *fault.Error {
		for _, w := range words {
			if strings.TrimSpace(w) == "" || strings.ContainsAny(w, "\x00\n\r") {
				return fault.New(fault.Invalid, "a pattern is one line, and not empty").
					WithHint("write it as in .gitignore: Journal/ or *.draft.md")
			}
			if w[0] == '[' && strings.IndexByte(w, ']') == len(w)-1 && strings.ContainsAny(w, `/",'`) { // it matches no path at all
				return fault.New(fault.Invalid, "a list in brackets is for the configuration file").
					WithHint("write the patterns without brackets and quotes, with %c between them", os.PathListSeparator)
			}
		}
		*at = append([]string{}, words...)
		return nil
	}
	return v
}

// someOf is a list of words out of several, none to begin with.
func someOf(at *[]string, allowed ...string) value {
	v := patternsOf(at)
	v.words = allowed
	set := v.set
	v.set = func(words []string) *fault.Error {
		for _, w := range words {
			if !slices.Contains(allowed, w) {
				return fault.New(fault.Invalid, "%q is not one of %s", w, strings.Join(allowed, ", ")).
					WithHint("give some of %s", strings.Join(allowed, ", "))
			}
		}
		return set(words)
	}
	return v
}

func checkPath(p string) *fault.Error {
	switch {
	case p == "":
		return fault.New(fault.Invalid, "the path is empty").WithHint("leave out the setting to use its default")
	case strings.ContainsRune(p, 0):
		return fault.New(fault.Invalid, "a path cannot contain a zero byte")
	}
	return nil
}

// wholePath returns a path of the configuration file, where ~ is the home
// folder. A relative one would mean another place in each working directory.
func wholePath(p string) (string, *fault.Error) {
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.New(fault.Invalid, "cannot determine the home folder for ~").
				WithHint("write the absolute path")
		}
		return filepath.Join(home, rest), nil
	}
	if !filepath.IsAbs(p) && !strings.HasPrefix(p, `\\`) {
		return "", fault.New(fault.Invalid, "%q is not an absolute path", p).WithHint("begin it with / or ~/")
	}
	return p, nil
}

// scale is how a number with or without a unit is written.
type scale struct {
	unit string // of what programs read
	read func(text string) (int64, *fault.Error)
	show func(n int64) string
	raw  func(n int64) int64
}

// ranged is a number between two bounds, both allowed.
func ranged[T ~int | ~int64](at *T, sc scale, least, most T) value {
	v := value{
		Unit: sc.unit, Text: func() string { return sc.show(int64(*at)) },
		raw: func() any { return sc.raw(int64(*at)) },
	}
	v.set = func(words []string) *fault.Error {
		w, err := only(words)
		if err != nil {
			return err
		}
		n, err := sc.read(strings.TrimSpace(w))
		if err != nil {
			return err
		}
		if n < int64(least) || n > int64(most) {
			return fault.New(fault.Invalid, "%q is out of range", w).
				WithHint("give %s to %s", sc.show(int64(least)), sc.show(int64(most)))
		}
		*at = T(n)
		return nil
	}
	return v
}

func same(n int64) int64 { return n }

var counts = scale{
	read: func(text string) (int64, *fault.Error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fault.New(fault.Invalid, "%q is not a whole number", text).
				WithHint("give a number such as 64, without a unit")
		}
		return n, nil
	},
	show: func(n int64) string { return strconv.FormatInt(n, 10) },
	raw:  same,
}

func countOf[T ~int | ~int64](at *T, least, most T) value { return ranged(at, counts, least, most) }

// byteUnits are the units of sizes, the largest of each sort first.
var byteUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"B", 1},
}

var sizes = scale{unit: "bytes", read: readSize, show: ShowSize, raw: same}

func sizeOf[T ~int | ~int64](at *T, least, most T) value { return ranged(at, sizes, least, most) }

// readSize reads 16MiB, 16 mib, 16777216B and 16777216.
func readSize(text string) (int64, *fault.Error) {
	bad := fault.New(fault.Invalid, "%q is not a size", text).
		WithHint("give a whole number with a unit: B, KiB, MiB or GiB, such as 16MiB")
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 {
		return 0, bad
	}
	unit := text[len(digits):]
	for _, u := range byteUnits {
		if unit == "" || strings.EqualFold(unit, u.name) {
			if unit == "" {
				u.bytes = 1
			}
			if n > (1<<62)/u.bytes {
				return 0, bad
			}
			return n * u.bytes, nil
		}
	}
	return 0, bad
}

// ShowSize writes a number of bytes as the configuration does, such as 64KiB.
func ShowSize(n int64) string {
	for _, u := range byteUnits[:3] {
		if n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

var durations = scale{
	unit: "ms", read: readDuration, show: showDuration,
	raw: func(n int64) int64 { return time.Duration(n).Milliseconds() },
}

func durationOf(at *time.Duration, least, most time.Duration) value {
	return ranged(at, durations, least, most)
}

// never is how a duration of nothing is written where that means no end.
const never = "never"

// durationOrNever is a duration that may be none.
func durationOrNever(at *time.Duration) value {
	sc := durations
	sc.read = func(text string) (int64, *fault.Error) {
		if strings.EqualFold(text, never) {
			return 0, nil
		}
		return readDuration(text)
	}
	sc.show = func(n int64) string {
		if n == 0 {
			return never
		}
		return showDuration(n)
	}
	return ranged(at, sc, 0, 365*24*time.Hour)
}

func readDuration(text string) (int64, *fault.Error) {
	d, err := time.ParseDuration(text)
	switch _, bare := strconv.ParseInt(text, 10, 64); {
	case err == nil && d >= 0:
		return int64(d), nil
	case bare == nil && d >= 0 && text[0] != '-':
		return 0, fault.New(fault.Invalid, "%q has no unit", text).WithHint("write %ss when you mean seconds", text)
	}
	return 0, fault.New(fault.Invalid, "%q is not a duration", text).
		WithHint("give a number with a unit: ms, s, m or h, such as 30s or 1h30m")
}

// showDuration leaves out the zeros that time.Duration ends with: 10m, not
// 10m0s.
func showDuration(n int64) string {
	s := time.Duration(n).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
