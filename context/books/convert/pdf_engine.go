package convert

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// Bounds of a file.
const (
	maxPages = 20_000
	// maxMemory is what PDFium may take, the file included, in pages of 64 KiB.
	maxMemory = 3 << 10
	// maxOutline is how many entries of an outline are read, and maxNested how deep.
	maxOutline = 5_000
	maxNested  = 20
)

// pdfEngine converts PDF files. The zero value works.
type pdfEngine struct {
	mu   sync.Mutex // held while a file is converted; guards the others
	pool pdfium.Pool
	code wazero.CompilationCache // nil: there is none
}

// Close gives back what the Engine holds. It may be used again.
func (e *pdfEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool == nil {
		return nil
	}
	err := e.pool.Close()
	if e.code != nil {
		err = errors.Join(err, e.code.Close(context.Background()))
	}
	e.pool, e.code = nil, nil
	return err
}

func (e *pdfEngine) prepare() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool == nil {
		_ = e.start(CodeDir()) // instance tries again
		debug.FreeOSMemory()   // the compiler's
	}
}

// instance returns a PDFium of its own for one file. The caller has the lock.
func (e *pdfEngine) instance(ctx context.Context) (pdfium.Pdfium, error) {
	if e.pool == nil {
		if err := e.start(CodeDir()); err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "PDF files can't be read on this machine")
		}
	}
	in, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil && ctx.Err() == nil {
		err = fault.Wrap(fault.Unavailable, err, "PDF files can't be read on this machine")
	}
	return in, err
}

// CodeDir is the folder in which compiled code is kept: a process that finds it there begins in a tenth of the time, and takes a
// third of the memory. It lies in folders of it, one a version of the compiler. "": there is none.
func CodeDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ctxd", "pdfium")
}

// codeName is what a file of code is called, also while it is written.
var codeName = text.Pattern(`^[0-9a-f]{64}(\.\d+\.tmp)?$`)

// IsCode tells by the name of a file in one of the folders of CodeDir whether it is code.
func IsCode(name string) bool { return codeName().MatchString(name) }

// start makes the pool, with the code that is kept in a folder, or else compiles it and keeps it there. A folder that is of no use
// costs time only, and a damaged file is made anew.
func (e *pdfEngine) start(dir string) error {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory)
	var err error
	if e.code, err = openCode(dir); err == nil {
		files := filepath.Join(dir, "*", "*")
		old, _ := filepath.Glob(files)
		if e.pool, err = startPDFium(config.WithCompilationCache(e.code)); err != nil && len(old) > 0 {
			removeAll(old) // one is damaged
			e.pool, err = startPDFium(config.WithCompilationCache(e.code))
		}
		if err == nil {
			if now, _ := filepath.Glob(files); len(now) > len(old) {
				removeAll(old) // of earlier versions
			}
			return nil
		}
		_ = e.code.Close(context.Background()) // what it holds is code
	}
	e.code = nil
	e.pool, err = startPDFium(config)
	return err
}

// openCode opens a folder of compiled code. What runs in this process is written by nobody but its owner.
func openCode(dir string) (wazero.CompilationCache, error) {
	if dir == "" {
		return nil, os.ErrNotExist
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder; the error: it is another's
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(dir)
}

// removeAll removes those of some files that are code: what others keep beside it stays.
func removeAll(files []string) {
	for _, f := range files {
		if IsCode(filepath.Base(f)) {
			_ = os.Remove(f) // it is in nobody's way
		}
	}
}

func startPDFium(config wazero.RuntimeConfig) (pdfium.Pool, error) {
	return webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, Stdout: io.Discard, Stderr: io.Discard,
		FSConfig:      wazero.NewFSConfig(), // it sees no file
		RuntimeConfig: config,
	})
}

// Add adds a PDF file. progress is told of the pages that are read; nil is not called.
func (e *pdfEngine) Add(b *Builder, data []byte, progress func(done, total int)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx := b.Context()
	in, err := e.instance(ctx)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = in.Kill() // stops it in the middle of a call
	})
	f := &file{in: in, b: b, progress: progress}
	err = f.read(ctx, data)
	if stop() {
		_ = in.Close()
	} else {
		<-ended
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return f.build(b)
}

// file is a PDF file that is read.
type file struct {
	in       pdfium.Pdfium
	b        *Builder
	progress func(done, total int)

	title, author string
	pages         int
	letters       int      // that were read
	labels        []string // of the pages
	lines         []line
	outline       []entry
}

// entry is one of the outline.
type entry struct {
	title string
	level int // from 1
	page  int // from 1; 0: unknown
}

// failed is the error of a call of PDFium.
func failed(err error) error {
	switch {
	case errors.Is(err, pdferrors.ErrPassword) || errors.Is(err, pdferrors.ErrSecurity):
		return encryptedError()
	case strings.Contains(err.Error(), "memory"):
		return fault.Wrap(fault.Limit, err, "the file needs more memory than is allowed").WithHint("split it into several files")
	}
	return brokenError(err)
}

// read reads the text and the outline.
func (f *file) read(ctx context.Context, data []byte) error {
	opened, err := f.in.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return failed(err)
	}
	doc := opened.Document
	count, err := f.in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
	if err != nil {
		return failed(err)
	}
	f.pages = count.PageCount
	if f.pages > maxPages {
		return fault.New(fault.Limit, "the file has %d pages, at most %d are allowed", f.pages, maxPages).
			WithHint("split it into several files")
	}
	f.title, f.author = f.meta(doc, "Title"), f.meta(doc, "Author")
	for i := range f.pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.page(doc, i); err != nil {
			return err
		}
		if f.progress != nil {
			f.progress(i+1, f.pages)
		}
	}
	f.readOutline(doc)
	f.readLabels(doc)
	return nil
}

// readLabels reads what is printed on the pages. A page that has no label ends it: the file has none then.
func (f *file) readLabels(doc references.FPDF_DOCUMENT) {
	for i := range f.pages {
		got, err := f.in.FPDF_GetPageLabel(&requests.FPDF_GetPageLabel{Document: doc, Page: i})
		if err != nil {
			return
		}
		f.labels = append(f.labels, got.Label)
	}
}

func (f *file) meta(doc references.FPDF_DOCUMENT, tag string) string {
	m, err := f.in.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc, Tag: tag})
	if err != nil {
		return ""
	}
	return m.Value
}

// readOutline reads the outline. GetBookmarks does not end on one that leads back to itself, and its
// FPDFBookmark_GetDest finds nothing (v1.19.0). So an outline is walked first, with bounds; one that is
// over them is left out.
func (f *file) readOutline(doc references.FPDF_DOCUMENT) {
	left := maxOutline
	if !f.ends(doc, nil, 1, &left) {
		return
	}
	got, err := f.in.GetBookmarks(&requests.GetBookmarks{Document: doc})
	if err == nil {
		f.entries(got.Bookmarks, 1)
	}
}

// ends reports whether the entries below one end within the bounds.
func (f *file) ends(doc references.FPDF_DOCUMENT, of *references.FPDF_BOOKMARK, level int, left *int) bool {
	first, err := f.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: doc, Bookmark: of})
	if err != nil {
		return false
	}
	for at := first.Bookmark; at != nil; {
		*left--
		if *left < 0 || level > maxNested || !f.ends(doc, at, level+1, left) {
			return false
		}
		next, err := f.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}

func (f *file) entries(list []responses.GetBookmarksBookmark, level int) {
	for _, x := range list {
		e := entry{title: CleanName(x.Title), level: level}
		to := x.DestInfo
		if to == nil && x.ActionInfo != nil {
			to = x.ActionInfo.DestInfo
		}
		if to != nil && to.PageIndex >= 0 && to.PageIndex < f.pages {
			e.page = to.PageIndex + 1
		}
		f.outline = append(f.outline, e)
		f.entries(x.Children, level+1)
	}
}
