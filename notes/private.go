package notes

import (
	"context"
	"iter"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/ignore"
	"github.com/ctxd/ctxd/notes/markdown"
)

// PrivateRule says why a note is private.
type PrivateRule string

// The rules, in the order in which they are looked at.
const (
	RuleNone   PrivateRule = ""       // it is not
	RuleFolder PrivateRule = "folder" // it lies in a folder that the configuration calls private
	RuleClient PrivateRule = "client" // a client has said so
	RuleText   PrivateRule = "text"   // its frontmatter says so
	RuleDoubt  PrivateRule = "doubt"  // it may say so
	RuleKept   PrivateRule = "kept"   // it was, and its file is not complete
)

// Why is why a note is private. Doubt is what a person can do something about, "" for
// none.
type Why struct {
	Rule  PrivateRule
	Doubt string
}

// The doubts.
const (
	doubtBroken = "kept private: the frontmatter can't be read whole, and names private"
	doubtLine   = "kept private: its head names private, but not as in private: true"
	doubtValue  = "kept private: the value of private is neither yes nor no"
	doubtKept   = "kept private: it was private, and the file is empty or ends within its frontmatter"
)

const privateKey = "private"

// says returns what a text says about being private. What is in doubt is private: a
// value that is no plain no, and a key that could not be read as one.
func says(body string, doc *markdown.Document) Why {
	why := frontmatterSays(body, doc)
	if why.Rule == RuleText {
		return why
	}
	if other := otherHeadSays(body, false); other.Rule == RuleText || why.Rule == RuleNone {
		return other
	}
	return why
}

// frontmatterSays is says of the frontmatter, and of what may be meant as one.
func frontmatterSays(body string, doc *markdown.Document) Why {
	if doc.Frontmatter == nil {
		switch {
		case !markdown.MentionsKey(body, privateKey):
			return Why{}
		case doc.FrontmatterErr != nil:
			return Why{RuleDoubt, doubtBroken}
		}
		return Why{RuleDoubt, doubtLine}
	}
	why := Why{}
	for _, f := range doc.Frontmatter.Fields {
		if !markdown.MatchesKey(f.Key, privateKey) {
			continue
		}
		switch found := saysValue(f); {
		case found.Rule == RuleText:
			return found
		case found.Rule != RuleNone:
			why = found
		}
	}
	return why
}

// saysValue reads a field that is named private, more or less.
func saysValue(f markdown.FrontmatterField) Why {
	if !strings.EqualFold(f.Key, privateKey) {
		return Why{RuleDoubt, doubtLine}
	}
	switch f.Value {
	case nil, false, 0.0:
		return Why{}
	case true, 1.0:
		return Why{Rule: RuleText}
	}
	switch entities.Fold(strings.TrimSpace(f.Raw)) {
	case "no", "n", "off", "false", "0":
		return Why{}
	case "yes", "y", "on", "true", "1":
		return Why{Rule: RuleText}
	}
	return Why{RuleDoubt, doubtValue}
}

// WhyPrivate returns by which rule a note is private, and what is in doubt. It reads
// the frontmatter of its text.
func (s *Store) WhyPrivate(n *Note) Why {
	if !n.Private {
		return Why{}
	}
	return s.why(n, says(n.Body, markdown.Parse(n.Body)), true)
}

// why returns why a note is private whose text says so much about it. was says that it was so before.
func (s *Store) why(n *Note, why Why, was bool) Why {
	switch {
	case s.InPrivateFolder(n.Vault, n.Path, n.Folder):
		why.Rule = RuleFolder
	case n.Given.Get().Private:
		why.Rule = RuleClient
	case why.Rule == RuleNone && was && n.Vault != "" && !markdown.IsHeadComplete(n.Body):
		return Why{RuleKept, doubtKept}
	}
	return why
}

// WillBePrivate reports whether the note that a draft makes is private, whatever it
// was before.
func (s *Store) WillBePrivate(d *Draft) bool {
	return d.Private || s.InPrivateFolder(d.Vault, d.Path, d.Folder) || d.reading().why.Rule != RuleNone
}

// privateFolders are the patterns of Options.PrivateFolders.
type privateFolders struct {
	exact  []ignore.Pattern
	folded []ignore.Pattern // without regard to case
}

// newPrivateFolders reads patterns as in .gitignore, with blanks around them.
func newPrivateFolders(list []string) privateFolders {
	lines := make([]string, len(list))
	for i, line := range list {
		line = strings.TrimPrefix(strings.TrimSpace(line), "./")
		if strings.HasSuffix(line, `\`) { // the blank behind it is meant
			line += " "
		}
		lines[i] = line
	}
	file := strings.Join(lines, "\n")
	return privateFolders{ignore.Parse(file, ".", false), ignore.Parse(file, ".", true)}
}

// PrivateFolders returns the patterns of the folders whose notes are private.
func (s *Store) PrivateFolders() []string { return slices.Clone(s.opts.PrivateFolders) }

// InPrivateFolder reports whether a note is private because of its place: its path, or
// its folder where it has no path. Where the file system of the vault does not tell
// letter case, neither do the patterns; of a note without a vault nobody knows.
func (s *Store) InPrivateFolder(vault, p, folder string) bool {
	if p == "" && folder != "" {
		p = path.Join(folder, "note") // a folder matches as what is in it does
	}
	if p == "" || len(s.opts.PrivateFolders) == 0 {
		return false
	}
	if ignore.Match(s.private.exact, ignore.Comparable(p, false), false) {
		return true
	}
	return s.FoldsCase(vault) && ignore.Match(s.private.folded, ignore.Comparable(p, true), false)
}

// foldingVaults says of vaults whether their file systems tell letter case, those of this machine.
var foldingVaults = kv.NewCollection[caseRule]("note-vault-case").Local() // by the name of the vault

type caseRule struct {
	Folds bool `json:"folds"`
}

// FoldsCase reports whether two paths of a vault that differ in letter case are the
// same; "" stands for notes without a vault. In doubt they are where most file systems
// of the operating system do it.
func (s *Store) FoldsCase(vault string) bool {
	if vault == "" {
		return true
	}
	s.caseMu.RLock()
	defer s.caseMu.RUnlock()
	if rule := s.caseRules[vault]; rule != nil {
		return rule.Folds
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

// SetFoldsCase records what FoldsCase returns for a vault.
func (s *Store) SetFoldsCase(ctx context.Context, vault string, folds bool) error {
	if s.FoldsCase(vault) == folds {
		return nil
	}
	return s.db.Update(ctx, func(tx *kv.Tx) error { return foldingVaults.Put(tx, vault, &caseRule{folds}) })
}

// ForgetFoldsCaseTx forgets what SetFoldsCase has recorded.
func (s *Store) ForgetFoldsCaseTx(tx *kv.Tx, vault string) error {
	return foldingVaults.Delete(tx, vault)
}

func (s *Store) loadCaseRules() error {
	return s.db.View(context.Background(), func(tx *kv.Tx) error {
		s.caseRules = maps.Collect(foldingVaults.All(tx, ""))
		return tx.Err()
	})
}

// takeCaseRules is the part of foldingVaults in a commit.
func (s *Store) takeCaseRules(cs *kv.ChangeSet) {
	for _, ch := range cs.Changes {
		if _, now, ok := foldingVaults.Of(ch); ok {
			s.caseMu.Lock()
			s.caseRules[ch.ID] = now // nil for one that is deleted
			s.caseMu.Unlock()
		}
	}
}

// privacyRule counts the changes of what a text has to say for its note to be private. Raise it with each: notes that are
// stored are looked at once more then.
const privacyRule = 1

// decidedRules says by which privacyRule the notes of the store were last looked at. Each machine of a shared store does it
// for itself: another one may have written notes by an older rule until it was updated.
var decidedRules = kv.NewCollection[int]("note-privacy-rule").Local() // by decidedKey

const decidedKey = "notes"

// fewDecided is how many are looked at each time, which takes less than to write down that they were.
const fewDecided = 10_000

// HideAnew makes the notes private that were stored as public, and are not by what is the rule today: they lie in folders
// that have become private, or their texts say so in a way that was not known. That a folder is private no longer, a note
// learns when it is written next: in doubt it stays private. Call it when the rooms are open that Options.Hide tells of it,
// before anybody reads. O(notes) where there are few of them or private folders, and once for each privacyRule; else O(1).
func (s *Store) HideAnew(ctx context.Context) error {
	var decided *int
	err := s.db.View(ctx, func(tx *kv.Tx) (err error) {
		decided, err = decidedRules.Get(tx, decidedKey)
		return err
	})
	outdated := decided == nil || *decided != privacyRule
	_, all, _ := s.Count()
	if err != nil || all == 0 || !outdated && len(s.opts.PrivateFolders) == 0 {
		return err
	}
	due := slices.Sorted(s.hiddenAnew(outdated))
	const batch = 200
	for part := range slices.Chunk(due, batch) {
		err := s.db.Update(ctx, func(tx *kv.Tx) error { return s.hideTx(tx, part) })
		if err != nil {
			return err
		}
	}
	if outdated && (len(due) > 0 || all > fewDecided) {
		rule := privacyRule
		// Where it fails, all is private that has to be, and the next start looks once more.
		_ = s.db.Update(ctx, func(tx *kv.Tx) error { return decidedRules.Put(tx, decidedKey, &rule) })
	}
	return nil
}

// hiddenAnew yields the ids of public notes that are not by today's rule. texts says whether it reads them.
func (s *Store) hiddenAnew(texts bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range s.All() {
			due := !n.Private && (s.InPrivateFolder(n.Vault, n.Path, n.Folder) || texts && saysPrivate(n.Body, false))
			if due && !yield(n.ID) {
				return
			}
		}
	}
}

func (s *Store) hideTx(tx *kv.Tx, ids []string) error {
	for _, id := range ids {
		n, err := Records.Get(tx, id)
		if err != nil {
			return err
		}
		if n == nil || n.Private { // another machine was first
			continue
		}
		hidden := *n
		hidden.Private = true
		hidden.Version++
		if err := Records.Put(tx, id, &hidden); err != nil {
			return err
		}
		if err := s.keepNames(tx, n, &hidden); err != nil {
			return err
		}
	}
	return nil
}

// SaysPrivate reports whether the text of a file that is no note says that it is private. It is quick where the
// text does not name it at all.
func SaysPrivate(body string) bool { return saysPrivate(body, true) }

func saysPrivate(body string, file bool) bool {
	return markdown.MentionsKey(body, privateKey) && frontmatterSays(body, markdown.Parse(body)).Rule != RuleNone ||
		otherHeadSays(body, file).Rule != RuleNone
}
