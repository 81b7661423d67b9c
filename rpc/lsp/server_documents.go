package lsp

import "context"

// doc is a document as hooks get it.
func (s *Session) doc(uri string) *OpenDocument {
	return &OpenDocument{URI: uri, State: func() *Document { return s.Opened(uri) }}
}

// didOpen holds a document. One that is open already is opened anew: an editor that says
// so has lost track, and the text that it sends counts.
func (s *Session) didOpen(p *DidOpenTextDocumentParams) {
	s.mu.Lock()
	s.open[p.TextDocument.URI] = NewBuffer(p.TextDocument, s.encoding)
	s.mu.Unlock()
	for _, f := range s.features {
		if f.Opened != nil {
			f.Opened(s, s.doc(p.TextDocument.URI))
		}
	}
	if d := s.Opened(p.TextDocument.URI); d != nil {
		s.Go(func(ctx context.Context) { s.offerImportOf(ctx, d) })
	}
}

// didChange edits a document. Changes are applied in the order in which they come,
// whatever their version: that is the order of the editor. A change of a document that
// is not open is left out.
func (s *Session) didChange(p *DidChangeTextDocumentParams) {
	s.mu.Lock()
	b := s.open[p.TextDocument.URI]
	if b == nil {
		s.opts.Logger.Warn("a document was changed that is not open")
	} else {
		if v := p.TextDocument.Version; v <= b.Version() {
			s.opts.Logger.Warn("a change has a version that is not above that of the document", "version", v, "document", b.Version())
		}
		if !b.Change(p.ContentChanges, p.TextDocument.Version) {
			s.opts.Logger.Warn("a document has become too large, and is no longer looked at")
			delete(s.open, p.TextDocument.URI)
			b = nil
		}
	}
	s.mu.Unlock()
	if b == nil {
		return
	}
	for _, f := range s.features {
		if f.Changed != nil {
			f.Changed(s, s.doc(p.TextDocument.URI))
		}
	}
}

func (s *Session) didSave(p *DidSaveTextDocumentParams) {
	if s.Opened(p.TextDocument.URI) == nil {
		return
	}
	for _, f := range s.features {
		if f.Saved != nil {
			f.Saved(s, s.doc(p.TextDocument.URI))
		}
	}
}

func (s *Session) didClose(p *DidCloseTextDocumentParams) {
	s.mu.Lock()
	_, was := s.open[p.TextDocument.URI]
	delete(s.open, p.TextDocument.URI)
	s.mu.Unlock()
	for _, f := range s.features {
		if was && f.Closed != nil {
			f.Closed(s, p.TextDocument.URI)
		}
	}
}
