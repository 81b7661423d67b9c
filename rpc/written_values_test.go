package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSRCH51_ValuesKeepWhatWasWritten in typed notes: in prompts, records, and queries, which compute with them all the same.
func TestSRCH51_ValuesKeepWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	inferred := map[string]string{
		"version": "1.10", "zip": "02134", "phone": "0170123456", "uid": "1234567890123456789", "price": "3.50", "tel": "+49170", "matter": "007",
		"sci": "1e3", "flag": "yes", "done": "True", "count": "12", "half": "0.5", "minus": "-3", "ok": "true", "day": "2026-03-04", "seen": "2026-03-04T10:00:00+02:00",
		"hex": "0x1F", "under": "1_000", "comma": "1,5", "dot": ".5",
	}
	front := func(ty string, values map[string]string) string {
		var b strings.Builder
		b.WriteString("---\ntype: " + ty + "\n")
		for k, v := range values {
			b.WriteString(k + ": " + v + "\n")
		}
		return b.String() + "---\n# "
	}
	for name, text := range map[string]string{
		"A.md":  front("App", inferred) + "A\n",
		"B.md":  front("App", map[string]string{"uid": "1234567890123456788", "version": "1.2", "on": "'[[2026-03-05]]'"}) + "B\n",
		"C.md":  front("App", map[string]string{"on": "'[[journal/2026-03-04|Wednesday]]'"}) + "C\n",
		"P1.md": front("Part", map[string]string{"size": "02.50", "no": "1234567890123456789", "made": "2026-03-04T23:00:00Z"}) + "P1\n",
		"P2.md": front("Part", map[string]string{"size": "10", "made": "'[[2026-03-03]]'"}) + "P2\n",
		"P3.md": front("Part", map[string]string{"size": "1e1", "made": "2026-03-04"}) + "P3\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	d := start(t)
	d.do("types.put", `{"name":"Part","fields":[{"name":"size","type":"number"},{"name":"no","type":"number"},{"name":"made","type":"date"}]}`)
	path, _ := json.Marshal(dir)
	d.do("vault.import", `{"path":`+string(path)+`}`)

	system := d.do("context.assemble", `{"text":"@A","audience":"local"}`)["system"].(string)
	fields := at(d.do("entities.get", `{"ref":"A"}`), "fields").(map[string]any)
	for key, written := range inferred {
		if !strings.Contains(system, key+": "+written+"\n") {
			t.Errorf("%s: %s is not in the prompt", key, written)
		}
		if got := fmt.Sprint(fields[key]); got != written {
			t.Errorf("%s is %v, want %s", key, got, written)
		}
	}
	for query, want := range map[string]string{
		`SELECT a FROM App a WHERE a.uid = 1234567890123456788`:                   "B",
		`SELECT a FROM App a WHERE a.uid = '1234567890123456789'`:                 "A",
		`SELECT a FROM App a WHERE a.zip = '02134'`:                               "A",
		`SELECT a FROM App a WHERE a.count > 11`:                                  "A", // a number to the end
		`SELECT a FROM App a WHERE a.on < '2026-03-05'`:                           "C",
		`SELECT a FROM App a WHERE a.on IS NOT NULL ORDER BY a.on`:                "C B",
		`SELECT p FROM Part p WHERE p.size = 10 ORDER BY p.name`:                  "P2 P3",
		`SELECT p FROM Part p WHERE p.size < 3`:                                   "P1",
		`SELECT p FROM Part p ORDER BY p.size DESC, p.name`:                       "P2 P3 P1",
		`SELECT p FROM Part p WHERE p.made < '2026-03-04'`:                        "P2",
		`SELECT p FROM Part p ORDER BY p.made`:                                    "P2 P3 P1",
		`SELECT p FROM Part p WHERE p.no = '1234567890123456789'`:                 "P1",
		`SELECT p FROM Part p WHERE p.size IN (2.5, 7)`:                           "P1",
		`SELECT p FROM Part p WHERE p.made > date('2026-03-04') OR p.size = 02.5`: "P1",
	} {
		q, _ := json.Marshal(query)
		var names []string
		for _, row := range d.do("wql.query", `{"query":`+string(q)+`}`)["rows"].([]any) {
			names = append(names, fmt.Sprint(at(row, "name")))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	sum := d.do("wql.query", `{"query":"SELECT SUM(p.size) FROM Part p"}`)
	if got := fmt.Sprint(sum["value"]); got != "22.5" {
		t.Errorf("the sum is %v", sum)
	}
	if got := fmt.Sprint(at(d.do("entities.get", `{"ref":"P1"}`), "fields")); !strings.Contains(got, "size:02.50") || !strings.Contains(got, "no:1234567890123456789") {
		t.Errorf("P1 is %s", got)
	}
	status := fmt.Sprint(d.do("vault.status", `{}`))
	if !strings.Contains(status, "more than 15 digits") {
		t.Errorf("nobody says that a long number is no number: %s", status)
	}
}

// TestSRCH51_NumbersThatAFloatRounds are refused with their field, and never another number.
func TestSRCH51_NumbersThatAFloatRounds(t *testing.T) {
	d := start(t)
	d.do("types.put", `{"name":"Part","fields":[{"name":"no","type":"number"},{"name":"code","type":"text"}]}`)
	d.do("entities.put", `{"id":"p","type":"Part","name":"P"}`)
	for number, kept := range map[string]string{
		"9007199254740993": "", "-9007199254740993": "", "12345678901234567890": "", "1234567890123456789.0": "", "9007199254740993.5": "",
		"9007199254740992": "9007199254740992", "-12": "-12", "1e30": "1e+30", "0.1": "0.1", "1.50": "1.5", "9007199254740992.0": "9007199254740992",
	} {
		for method, params := range map[string]string{
			"entities.put": `{"id":"p","type":"Part","name":"P","fields":{"no":` + number + `}}`, "entities.patch": `{"id":"p","fields":{"no":` + number + `}}`,
		} {
			if kept == "" {
				d.wantRefused(method, params, -32602, "fields.no")
				continue
			}
			want, err := json.Number(kept).Float64()
			must(t, err)
			if got := at(d.do(method, params), "fields").(map[string]any)["no"]; got != want {
				t.Errorf("%s of %s: %v", method, number, got)
			}
		}
	}
}
