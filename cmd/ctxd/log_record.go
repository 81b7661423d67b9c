package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// logRecord is a line of a log.
type logRecord struct {
	raw   []byte // the line as it stands there
	plain bool   // it is no JSON object: nothing else is known of it
	time  time.Time
	level slog.Level
	msg   string
	attrs []logAttr // in their order
}

type logAttr struct {
	key   string
	value json.RawMessage
}

// parseLogLine reads a line. One that slog did not write is a plain record.
func parseLogLine(line []byte) *logRecord {
	r := &logRecord{raw: line}
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		r.plain = true
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
			return &logRecord{raw: line, plain: true}
		}
	}
	return r
}

// set takes a member of the object.
func (r *logRecord) set(key string, value json.RawMessage) error {
	switch key {
	case slog.TimeKey:
		return json.Unmarshal(value, &r.time)
	case slog.LevelKey:
		return json.Unmarshal(value, &r.level)
	case slog.MessageKey:
		return json.Unmarshal(value, &r.msg)
	}
	r.attrs = append(r.attrs, logAttr{key, value})
	return nil
}

// logFilter says which records are wanted.
type logFilter struct {
	level slog.Level // at least
	conn  uint64     // of the connection; 0: of any and none
}

// wants reports whether a record is one of those. A plain record says neither,
// and is wanted when nothing is asked for.
func (f logFilter) wants(r *logRecord) bool {
	if r.plain {
		return f.conn == 0 && f.level <= slog.LevelDebug
	}
	return r.level >= f.level && (f.conn == 0 || r.isOf(f.conn))
}

// pass returns a function that reads lines and hands the records that are wanted
// to take.
func (f logFilter) pass(take func(*logRecord) error) func(line []byte) error {
	return func(line []byte) error {
		if r := parseLogLine(line); f.wants(r) {
			return take(r)
		}
		return nil
	}
}

func (r *logRecord) isOf(conn uint64) bool {
	for _, a := range r.attrs {
		if a.key == "conn" {
			return string(a.value) == strconv.FormatUint(conn, 10)
		}
	}
	return false
}

// logPrinter prints records for people, or as JSON, one a line.
type logPrinter struct {
	out  *screen
	json bool
	day  string // of the last record, on a terminal
}

func newLogPrinter(a *app) *logPrinter { return &logPrinter{out: a.out, json: a.JSON} }

func (p *logPrinter) print(r *logRecord) error {
	switch {
	case p.json && r.plain:
		doc, err := json.Marshal(map[string]string{slog.MessageKey: string(r.raw)})
		if err != nil {
			return err
		}
		return p.object(doc)
	case p.json:
		return p.object(r.raw)
	case r.plain:
		p.out.sayWhole(text(string(r.raw)))
	default:
		p.line(r)
	}
	return nil
}

// object writes a JSON object as it is, on one line also on a terminal.
func (p *logPrinter) object(doc []byte) error {
	_, err := p.out.Write([]byte(escapeControls(string(doc)) + "\n"))
	return err
}

// levelStyles are for levels that stand out.
var levelStyles = map[slog.Level]style{slog.LevelDebug: faint, slog.LevelWarn: warn, slog.LevelError: bad}

func (p *logPrinter) line(r *logRecord) {
	at := r.time.Local()
	stamp := at.Format("2006-01-02 15:04:05.000")
	if p.out.terminal {
		if day := at.Format(time.DateOnly); day != p.day {
			p.day = day
			p.out.say(styled(faint, "── "+day))
		}
		stamp = at.Format("15:04:05.000")
	}
	p.out.sayWhole(append(line{styled(faint, stamp), text("  ")}, r.shown()...)...)
	for _, a := range r.attrs {
		lines := a.lines()
		if len(lines) > 0 {
			p.out.sayWhole(styled(faint, "    "+a.key+":"))
		}
		for _, s := range lines {
			p.out.sayWhole(styled(faint, "      "+strings.ReplaceAll(s, "\t", "  ")))
		}
	}
}

// shown returns what a record says, without its time and without what takes
// several lines.
func (r *logRecord) shown() line {
	l := line{styled(levelStyles[r.level], fmt.Sprintf("%-5s", r.level)), text("  "), text(r.msg)}
	for _, a := range r.attrs {
		if a.lines() == nil {
			l = append(l, text("  "), styled(faint, a.key+"="), text(a.text()))
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
		return elapsed(time.Duration(n))
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
