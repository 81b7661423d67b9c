package logfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Record is a line of a log.
type Record struct {
	raw   []byte // the line as it stands there
	Plain bool   // it is no JSON object: nothing else is known of it
	Time  time.Time
	level slog.Level
	msg   string
	attrs []logAttr // in their order
}

type logAttr struct {
	key   string
	value json.RawMessage
}

// parseLogLine reads a line. One that slog did not write is a plain record.
func parseLogLine(line []byte) *Record {
	r := &Record{raw: line}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		r.Plain = true
		return r
	}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err == nil {
			err = r.set(fmt.Sprint(key), value)
		}
		if err != nil {
			return &Record{raw: line, Plain: true}
		}
	}
	return r
}

// set takes a member of the object.
func (r *Record) set(key string, value json.RawMessage) error {
	switch key {
	case slog.TimeKey:
		return json.Unmarshal(value, &r.Time)
	case slog.LevelKey:
		return json.Unmarshal(value, &r.level)
	case slog.MessageKey:
		return json.Unmarshal(value, &r.msg)
	}
	r.attrs = append(r.attrs, logAttr{key, value})
	return nil
}

// Filter says which records are wanted.
type Filter struct {
	Level slog.Level // at least
	Conn  uint64     // of the connection; 0: of any and none
}

// Wants reports whether a record is one of those. A plain record says neither,
// and is wanted when nothing is asked for.
func (f Filter) Wants(r *Record) bool {
	if r.Plain {
		return f.Conn == 0 && f.Level <= slog.LevelDebug
	}
	return r.level >= f.Level && (f.Conn == 0 || r.isOf(f.Conn))
}

// pass returns a function that reads lines and hands the records that are wanted
// to take.
func (f Filter) pass(take func(*Record) error) func(line []byte) error {
	return func(line []byte) error {
		if r := parseLogLine(line); f.Wants(r) {
			return take(r)
		}
		return nil
	}
}

func (r *Record) isOf(conn uint64) bool {
	for _, a := range r.attrs {
		if a.key == "conn" {
			return string(a.value) == strconv.FormatUint(conn, 10)
		}
	}
	return false
}

// Printer prints records for people, or as JSON, one a line.
type Printer struct {
	out  *term.Screen
	json bool
	day  string // of the last record, on a terminal
}

// NewPrinter prints records to a terminal or, as they are, as JSON.
func NewPrinter(out *term.Screen, json bool) *Printer { return &Printer{out: out, json: json} }

// Print prints one record.
func (p *Printer) Print(r *Record) error {
	switch {
	case p.json && r.Plain:
		doc, err := json.Marshal(map[string]string{slog.MessageKey: string(r.raw)})
		if err != nil {
			return err
		}
		return p.object(doc)
	case p.json:
		return p.object(r.raw)
	case r.Plain:
		p.out.SayWhole(term.Text(string(r.raw)))
	default:
		p.line(r)
	}
	return nil
}

// object writes a JSON object as it is, on one line also on a terminal.
func (p *Printer) object(doc []byte) error {
	_, err := p.out.Write([]byte(term.EscapeControls(string(doc)) + "\n"))
	return err
}

// levelStyles are for levels that stand out.
var levelStyles = map[slog.Level]term.Style{
	slog.LevelDebug: term.Faint, slog.LevelWarn: term.Warn,
	slog.LevelError: term.Bad,
}

func (p *Printer) line(r *Record) {
	at := r.Time.Local()
	stamp := at.Format("2006-01-02 15:04:05.000")
	if p.out.Terminal {
		if day := at.Format(time.DateOnly); day != p.day {
			p.day = day
			p.out.Say(term.Styled(term.Faint, "── "+day))
		}
		stamp = at.Format("15:04:05.000")
	}
	p.out.SayWhole(append(term.Line{term.Styled(term.Faint, stamp), term.Text("  ")}, r.Shown()...)...)
	for _, a := range r.attrs {
		lines := a.lines()
		if len(lines) > 0 {
			p.out.SayWhole(term.Styled(term.Faint, "    "+a.key+":"))
		}
		for _, s := range lines {
			p.out.SayWhole(term.Styled(term.Faint, "      "+strings.ReplaceAll(s, "\t", "  ")))
		}
	}
}

// Shown returns what a record says, without its time and without what takes
// several lines.
func (r *Record) Shown() term.Line {
	l := term.Line{term.Styled(levelStyles[r.level], fmt.Sprintf("%-5s", r.level)), term.Text("  "), term.Text(r.msg)}
	for _, a := range r.attrs {
		if a.lines() == nil {
			l = append(l, term.Text("  "), term.Styled(term.Faint, a.key+"="), term.Text(a.text()))
		}
	}
	return l
}

// lines returns the lines of a text that has several, such as a stack.
func (a *logAttr) lines() []string {
	var s string
	if json.Unmarshal(a.value, &s) != nil || !strings.Contains(s, "\n") {
		return nil
	}
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}

// text writes a value: durations, which slog writes in nanoseconds, as such,
// and texts in quotes only when one could not tell where they end.
func (a *logAttr) text() string {
	if n, err := strconv.ParseInt(string(a.value), 10, 64); err == nil && a.key == "took" {
		return term.Elapsed(time.Duration(n))
	}
	var s string
	if json.Unmarshal(a.value, &s) != nil {
		return string(a.value)
	}
	if s == "" || strings.ContainsAny(s, " =\"") {
		return strconv.Quote(s)
	}
	return s
}
