package protocol_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateTS = flag.Bool("update-ts", false, "write the contract of the TypeScript client anew")

// TestTypeScriptIsTheContract compares the types of the TypeScript client with
// the contract.
func TestTypeScriptIsTheContract(t *testing.T) {
	want, err := typeScript(whole(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "client", "ts", "src", "protocol.ts")
	if *updateTS {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("protocol.ts is out of date, run go test ./rpc/protocol -update-ts (-is +should be):\n%s", diff)
	}
}

// The document is small on purpose: each line of the module that comes of it
// is a rule of the generator.
func TestTypeScriptOfEveryShape(t *testing.T) {
	got, err := typeScript([]byte(shapes))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "shapes.golden.ts", []byte(got))
}

// A generator that guesses would hand out wrong types.
func TestTypeScriptRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, c := range map[string][2]string{
		"a keyword":              {`{"type": "string", "pattern": "^x"}`, "pattern"},
		"a type":                 {`{"type": "bigint"}`, "bigint"},
		"an array of nothing":    {`{"type": "array"}`, "array"},
		"an object without name": {`{"type": "object", "properties": {"a": true}}`, "component"},
	} {
		doc := `{"methods": [{"name": "a.b", "params": [], "result": {"schema": ` + c[0] + `}}]}`
		if got, err := typeScript([]byte(doc)); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	double := `{"methods": [
		{"name": "a.b", "params": [{"name": "x", "schema": true}], "result": {"schema": true}},
		{"name": "aB", "params": [{"name": "x", "schema": true}], "result": {"schema": true}}]}`
	if _, err := typeScript([]byte(double)); err == nil || !strings.Contains(err.Error(), "ABParams") {
		t.Errorf("two types of one name: %v", err)
	}
}

const shapes = `{
	"info": {"version": "1.0"},
	"methods": [
		{
			"name": "thing.put", "summary": "Write a thing.", "description": "With */ in it.",
			"params": [
				{"name": "id", "description": "id of the thing", "required": true, "schema": {"type": "string"}},
				{"name": "if-version", "schema": {"type": "integer", "minimum": 0}},
				{"name": "size", "schema": {"type": "number", "minimum": 0.5}},
				{"name": "limit", "description": "how many", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 8}},
				{"name": "kinds", "schema": {"type": "array", "items": {"type": "string", "enum": ["note", "entity"]}}},
				{"name": "mode", "schema": {"type": "string", "enum": ["a", "b\"c"], "default": "a"}},
				{"name": "title", "schema": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
			],
			"result": {"schema": {"$ref": "#/components/schemas/Thing"}},
			"errors": [{"$ref": "#/components/errors/Parse"}, {"$ref": "#/components/errors/NotFound"}],
			"examples": [{"params": [{"name": "id", "value": "x"}], "result": {"value": {}}}]
		},
		{"name": "thing.all", "params": [], "result": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}}}
	],
	"components": {
		"schemas": {
			"Thing": {
				"type": "object", "required": ["when", "any"], "additionalProperties": false,
				"properties": {
					"when": {"type": "string", "format": "date-time", "description": "when it was"},
					"match": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}},
					"signals": {"type": "object", "additionalProperties": {"type": "number"}},
					"fields": {"type": "object", "additionalProperties": true},
					"raw": {"type": "object"},
					"any": {"description": "anything"},
					"many": {"anyOf": [{"type": "array", "items": {"type": "boolean"}}, {"type": "null"}]}
				}
			},
			"Nothing": {"type": "object", "properties": {}, "additionalProperties": {"not": {}}}
		},
		"errors": {
			"Parse": {"code": -32700, "message": "No JSON."},
			"NotFound": {"code": 1001, "message": "Not there."}
		}
	},
	"x-notifications": [
		{"name": "bye", "summary": "The client goes.", "params": [], "x-from": "client"},
		{"name": "$/progress", "summary": "How far a call has come.", "x-from": "daemon", "params": [{"name": "token", "required": true, "schema": true}]},
		{"name": "thing.changed", "summary": "Things changed.", "x-from": "daemon", "x-topic": true, "params": [{"name": "ids", "required": true, "schema": {"type": "array", "items": {"type": "string"}}}]}
	]
}`
