package main_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stores are the types that hold records whoever asks, and the rooms over them: who reads
// for a reader has a View instead.
var stores = map[string][]string{
	"entities": {"Store"}, "notes": {"Store"}, "entities/wql": {"Engine"}, "graph": {"Graph"},
	"context/search": {"Index"}, "context/memory": {"Store"}, "context/books": {"Store"}, "chat": {"Store"},
	"chat/cites": {"Index"}, "context/learn/concepts": {"Index"}, "entities/kv": {"Store"}, "rpc": {"Deps", "rooms"},
}

// readers are the rooms all of whose files read for a reader, but for those that are
// named here with the reason.
var readers = map[string]map[string]string{
	"context/gather": {
		"complete.go":          "indexes the handles of all records, and asks a View for each that it shows",
		"complete_entities.go": "is a source of that index",
		"complete_memories.go": "is a source of that index",
	},
	"rpc": {
		"rooms.go":            "opens the rooms, and gives each call its View and what it writes with",
		"server.go":           "is given the function that opens the store",
		"method.go":           "takes the rooms of a call, to make its scope",
		"methods.go":          "names the handlers of the files below, which count, copy or change all records",
		"followers.go":        "follows vaults for nobody",
		"admin.go":            "counts all records, for a local reader alone",
		"index.go":            "counts what is indexed, for admin.go",
		"backup.go":           "copies and replaces the whole store",
		"chatimport.go":       "adds the conversations of a whole export",
		"editing.go":          "looks at all notes of a vault, for a local reader alone",
		"editing_check.go":    "does so for editing.go",
		"editing_rename.go":   "does so for editing.go",
		"check.go":            "looks through the whole store",
		"reindex.go":          "makes the indexes of all records anew",
		"views.go":            "opens the indexes over all records, and lists what is to be compared with them",
		"waiting_queue.go":    "writes what waits for other machines, for a local writer",
		"waiting_chat.go":     "is what such a call writes conversations with",
		"host_data_folder.go": "compacts the whole store",
	},
}

// TestLayers_WhoReadsForAReaderHoldsNoStore (PRIV-2): no expression, variable or field of
// the rooms that read for a reader is a store, an index, an engine or the rooms over them.
func TestLayers_WhoReadsForAReaderHoldsNoStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it checks the types of all rooms")
	}
	packages := listPackages(t, "./rpc", "./context/gather")
	set := token.NewFileSet()
	exports := importer.ForCompiler(set, "gc", func(imported string) (io.ReadCloser, error) {
		p := packages[imported]
		if p == nil || p.Export == "" {
			return nil, errors.New("there is no " + imported)
		}
		return os.Open(p.Export)
	})
	for room, exceptions := range readers {
		p := packages[module+"/"+room]
		files := make([]*ast.File, len(p.GoFiles))
		for i, name := range p.GoFiles {
			parsed, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = parsed
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		_, err := (&types.Config{Importer: exports}).Check(p.ImportPath, set, files, info)
		if err != nil {
			t.Fatal(err)
		}
		held := heldStores(set, info)
		for file, where := range held {
			if exceptions[file] == "" {
				t.Errorf("%s/%s: it reads for a reader, through a View alone", room, where)
			}
		}
		for file, reason := range exceptions {
			if held[file] == "" {
				t.Errorf("%s/%s holds no store: it needs no exception (%s)", room, file, reason)
			}
		}
	}
}

// TestLayers_AViewGivesNoStoreAway (PRIV-2): what a reader holds has no method that
// returns a store, and no field that anybody may read.
func TestLayers_AViewGivesNoStoreAway(t *testing.T) {
	packages := listPackages(t, "./context/gather")
	set := token.NewFileSet()
	exports := importer.ForCompiler(set, "gc", func(imported string) (io.ReadCloser, error) {
		return os.Open(packages[imported].Export)
	})
	for room, names := range map[string][]string{"context/audience": {"View"}, "context/gather": {"Gatherer"}} {
		p, err := exports.Import(module + "/" + room)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			methods := types.NewMethodSet(types.NewPointer(p.Scope().Lookup(name).Type()))
			if methods.Len() < 5 {
				t.Errorf("%s.%s has %d methods", room, name, methods.Len())
			}
			for i := range methods.Len() {
				m := methods.At(i).Obj()
				if what := storeIn(m.Type().(*types.Signature).Results()); m.Exported() && what != "" {
					t.Errorf("%s.%s.%s gives a %s away", room, name, m.Name(), what)
				}
			}
			fields := p.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			for i := range fields.NumFields() {
				f := fields.Field(i)
				if what := storeIn(f.Type()); what != "" && (f.Exported() || room != "context/audience") {
					t.Errorf("%s.%s.%s holds a %s", room, name, f.Name(), what)
				}
			}
		}
	}
}

// listedPackage is what the go command says of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string // for this system
}

// listPackages returns packages with all that they import, by import path.
func listPackages(t *testing.T, patterns ...string) map[string]*listedPackage {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, patterns...)...)
	list.Dir = root
	out, err := list.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command, which knows the types")
	}
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*listedPackage)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(listedPackage)
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// heldStores returns by file a place where it has a store in its hands, and which.
func heldStores(set *token.FileSet, info *types.Info) map[string]string {
	held := make(map[string]string)
	look := func(at token.Pos, typ types.Type) {
		what := storeIn(typ)
		if what == "" {
			return
		}
		p := set.Position(at)
		file := filepath.Base(p.Filename)
		where := file + ":" + p.String()[strings.Index(p.String(), ":")+1:] + ": " + what
		if held[file] == "" || where < held[file] {
			held[file] = where
		}
	}
	for expr, known := range info.Types {
		look(expr.Pos(), known.Type)
	}
	for _, objects := range []map[*ast.Ident]types.Object{info.Defs, info.Uses} {
		for id, object := range objects {
			if object != nil {
				look(id.Pos(), object.Type())
			}
		}
	}
	return held
}

// storeIn returns the store that a type is, points to, or holds many of; "" for none.
func storeIn(typ types.Type) string {
	switch typ := typ.(type) {
	case *types.Pointer:
		return storeIn(typ.Elem())
	case *types.Slice:
		return storeIn(typ.Elem())
	case *types.Map:
		return storeIn(typ.Elem())
	case *types.Chan:
		return storeIn(typ.Elem())
	case *types.Tuple:
		for i := range typ.Len() {
			if what := storeIn(typ.At(i).Type()); what != "" {
				return what
			}
		}
	case *types.Named:
		name := typ.Obj()
		if name.Pkg() == nil {
			return ""
		}
		room := strings.TrimPrefix(name.Pkg().Path(), module+"/")
		if slices.Contains(stores[room], name.Name()) {
			return path.Base(room) + "." + name.Name()
		}
	}
	return ""
}
