package rpc

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
)

// A view that admin.check does not compare is found, as that of an invented kind.
func TestHOUSE8_EachViewIsCompared(t *testing.T) {
	uncompared := func(views []record.StoreView) []record.StoreView {
		return slices.DeleteFunc(slices.Clone(views), func(v record.StoreView) bool {
			return viewReaders[v] != nil || v == record.ViewVectors
		})
	}
	if list := uncompared(record.StoreViews); len(list) > 0 {
		t.Errorf("viewReaders lack %v", list)
	}
	extended := append(slices.Clone(record.StoreViews), "inventions")
	if list := uncompared(extended); !slices.Equal(list, []record.StoreView{"inventions"}) {
		t.Errorf("with an invented view, viewReaders lack %v", list)
	}
	for view := range viewReaders {
		if !slices.Contains(record.StoreViews, view) {
			t.Errorf("record.StoreViews lacks %s", view)
		}
	}
}
