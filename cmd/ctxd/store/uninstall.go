package store

// ctxd uninstall removes what ctxd has put on the machine.
//
// What is to be removed is listed first, and can be shown without being removed (--dry-run). What runs ends before any
// file goes: the service, so that nothing starts the daemon again, then the daemon. The files are listed anew then,
// since a daemon that ends writes its indexes. Only files that ctxd made are removed, each by its name, and folders when
// nothing is left in them; what else lies there stays and is named. No file of a vault is ever touched.

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/hook"
	"github.com/ctxd/ctxd/cmd/ctxd/logfile"
	"github.com/ctxd/ctxd/cmd/ctxd/service"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/books/convert"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/context/search/words"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

// UninstallCommand is ctxd uninstall.
type UninstallCommand struct {
	Data     string `placeholder:"DIR" help:"Folder of the store. Default: $$CTXD_DATA, else ctxd in $$XDG_DATA_HOME."`
	KeepData bool   `help:"Keep the store with its indexes and logs."`
	DryRun   bool   `help:"Show what would be removed, and change nothing."`
	Yes      bool   `short:"y" help:"Do not ask for confirmation."`
}

// Help is what --help says of the command.
func (UninstallCommand) Help() string {
	return "Stops the daemon and removes its service, the store with its indexes and logs, its cache, the configuration, and its lines in the settings of other programs. " +
		"Files of vaults are not touched, and backups in other folders stay. " +
		"Notes, entities and conversations that do not come from a vault exist only in the store: " +
		"make a backup first if you want to keep them. The program itself stays; the last line shows where it is."
}

// Examples are those of --help.
func (UninstallCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd uninstall --dry-run", "show first what would be removed"},
		{"ctxd backup ~/ctxd.ctxdbackup && ctxd uninstall", "keep a backup, then remove everything"},
		{"ctxd uninstall --keep-data", "remove the service and the configuration only"},
	}
}

// folderName is what the folders of ctxd are called by default.
const folderName = "ctxd"

// UninstallOptions are what ctxd uninstall runs with.
type UninstallOptions struct {
	*term.Streams
	*connect.Link
}

// installedItem is something that ctxd has put on the machine.
type installedItem struct {
	What  string `json:"what"` // service, daemon, store, indexes, books, key, logs, history, cache, hooks or configuration
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // of its files
	Files int    `json:"files"`

	remove func() error
}

// uninstallResult is the result of ctxd uninstall.
type uninstallResult struct {
	DryRun  bool             `json:"dryRun"`
	Removed []*installedItem `json:"removed"` // or would be, in a dry run
	Kept    []string         `json:"kept"`    // paths in the removed folders that are not of ctxd
	Program string           `json:"program"` // which stays
}

// Run runs the command.
func (c *UninstallCommand) Run(a *UninstallOptions) error {
	conf, err := a.Load(config.Given{"data": term.NonEmpty(c.Data)})
	if err != nil {
		return err
	}
	program, err := connect.Program()
	if err != nil {
		return err
	}
	u := &uninstallResult{DryRun: c.DryRun, Removed: []*installedItem{}, Kept: []string{}, Program: program}
	u.addRunning(a, conf)
	running := slices.Clone(u.Removed)
	if err := u.addFiles(conf, c.KeepData); err != nil {
		return err
	}
	switch {
	case c.DryRun:
		return u.show(a)
	case !c.Yes && len(u.Removed) > 0:
		err := a.Confirm(a.Ctx, "Remove all of this?", "ctxd uninstall --yes", u.draw)
		if err != nil {
			return err
		}
	}
	if err := removeAll(running); err != nil {
		return err
	}
	u.Removed, u.Kept = running, u.Kept[:0]
	if err := u.addFiles(conf, c.KeepData); err != nil { // a daemon that ends writes some
		return err
	}
	if err := removeAll(u.Removed[len(running):]); err != nil {
		return err
	}
	code := convert.CodeDir()
	_ = os.Remove(code) // when nothing is left in it
	for _, dir := range []string{conf.Data, filepath.Dir(code), filepath.Dir(conf.Path)} {
		if filepath.Base(dir) == folderName {
			_ = os.Remove(dir) // when nothing is left in it
		}
	}
	return u.show(a)
}

// removeAll removes everything, in its order.
func removeAll(list []*installedItem) error {
	for _, l := range list {
		err := l.remove()
		if errors.As(err, new(*fs.PathError)) {
			return fault.Wrap(fault.Unavailable, err, "cannot remove %s: %s", l.Path, config.Reason(err)).
				WithHint("check who owns it, then run ctxd uninstall again")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addRunning adds what has to end before files can be removed.
func (u *uninstallResult) addRunning(a *UninstallOptions, conf *config.Config) {
	if s := service.Find(); s != nil {
		u.add("service", s.File(), func() error { return s.Remove(&service.Options{Streams: a.Streams, Link: a.Link}) })
	}
	if connect.HealthOf(a.Ctx, conf.Socket) != nil {
		u.add("daemon", conf.Socket, func() error { return endDaemon(a) })
	}
}

// addFiles adds the files of ctxd.
func (u *uninstallResult) addFiles(conf *config.Config, keepData bool) error {
	if !keepData {
		if err := u.addStore(conf); err != nil {
			return err
		}
	}
	if code := convert.CodeDir(); code != "" {
		versions, _ := filepath.Glob(filepath.Join(code, "wazero-*"))
		for _, dir := range versions {
			u.addFolder("cache", dir, func(path string) bool { return convert.IsCode(filepath.Base(path)) })
		}
	}
	installed := hook.Installed()
	for _, name := range slices.Sorted(maps.Keys(installed)) {
		u.add("hooks", installed[name], func() error { return hook.Remove(name) })
	}
	if conf.Present && conf.Path != os.DevNull {
		dir, name := filepath.Split(conf.Path)
		u.add("configuration", conf.Path, func() error { return os.Remove(conf.Path) }).count(dir, name)
	}
	return nil
}

// endDaemon ends the daemon and waits until it has gone. Its service may have done so already.
func endDaemon(a *UninstallOptions) error {
	s, err := a.Stop()
	switch {
	case errors.As(err, new(*term.Unreachable)):
		return nil
	case err != nil:
		return err
	case !s.Ended:
		return fault.New(fault.Unavailable, "the daemon has not stopped yet; the store was not removed").
			WithHint("ctxd uninstall")
	}
	return nil
}

// addStore adds what lies in the folder of the store, and the history of ctxd wql. A
// folder without a store may be somebody else's, with logs of his own, unless it has the
// name that ctxd gives it.
func (u *uninstallResult) addStore(conf *config.Config) error {
	files, others, err := kv.Files(nil, conf.Data)
	if err != nil || len(files) == 0 && filepath.Base(conf.Data) != folderName {
		return err
	}
	if len(files) > 0 {
		l := u.add("store", conf.Data, func() error { return daemon.OwnerOf(conf.Data, kv.Remove(nil, conf.Data)) })
		l.count(conf.Data, files...)
	}
	for _, name := range others {
		path := filepath.Join(conf.Data, name)
		switch folder := strings.TrimSuffix(name, "/"); {
		case slices.Contains(daemon.IndexFolders, folder):
			u.addFolder("indexes", path, func(path string) bool { return vectors.IsFile(filepath.Base(path)) || words.IsFile(path) })
		case folder == daemon.LogFolder:
			logs := logfile.Files(filepath.Join(path, config.LogName))
			u.addFolder("logs", path, func(path string) bool { return slices.Contains(logs, path) })
		case folder == books.Folder:
			u.addFolder("books", path, func(path string) bool { return books.IsFile(filepath.Base(path)) })
		case folder == shared.Folder:
			u.addFolder("key", path, func(path string) bool { return shared.IsFile(filepath.Base(path)) })
		case name == config.HistoryFile, name == config.ChatHistoryFile, name == config.DeclinedFile:
			u.add("history", path, func() error { return os.Remove(path) }).count(conf.Data, name)
		case name == daemon.Signature:
			u.add("store", path, func() error { return os.Remove(path) }).count(conf.Data, name)
		default:
			u.Kept = append(u.Kept, path)
		}
	}
	if log, err := conf.LogPath(); err == nil && config.Exists(log) && filepath.Dir(filepath.Dir(log)) != conf.Data {
		u.Kept = append(u.Kept, log) // beside it lie older ones, and perhaps files of others
	}
	return nil
}

// addFolder adds the files of a folder that are of ctxd, and the folder when nothing else is in it.
func (u *uninstallResult) addFolder(what, dir string, own func(path string) bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		u.Kept = append(u.Kept, dir)
		return
	}
	var names []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type().IsRegular() && own(path) {
			names = append(names, e.Name())
		} else {
			u.Kept = append(u.Kept, path)
		}
	}
	if len(names) == 0 && len(entries) > 0 {
		return
	}
	u.add(what, dir, func() error {
		for _, name := range names {
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if len(names) == len(entries) {
			_ = os.Remove(dir) // what came into it meanwhile stays
		}
		return nil
	}).count(dir, names...)
}

// add adds something to be removed.
func (u *uninstallResult) add(what, path string, remove func() error) *installedItem {
	l := &installedItem{What: what, Path: path, remove: remove}
	u.Removed = append(u.Removed, l)
	return l
}

// count adds up the files of a folder that have these names, or lie in folders that do.
func (l *installedItem) count(dir string, names ...string) {
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(dir, name), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil //nolint:nilerr // what can't be read is not counted; to remove it says why
			}
			l.Files++
			if info, err := e.Info(); err == nil {
				l.Bytes += info.Size()
			}
			return nil
		})
	}
}

func (u *uninstallResult) show(a *UninstallOptions) error {
	if a.JSON {
		return a.Out.JSON(u)
	}
	u.draw(a.Out)
	return nil
}

// draw shows what is removed, or was.
func (u *uninstallResult) draw(s *term.Screen) {
	for _, l := range u.Removed {
		line := term.Line{term.Styled(term.Faint, fmt.Sprintf("  %-13s  ", l.What)), term.Text(l.Path)}
		if l.Files > 0 {
			line = append(line, term.Styled(term.Faint, "  "+term.Count(l.Files, "file")+", "+term.Size(l.Bytes)))
		}
		s.SayWhole(line...)
	}
	if len(u.Removed) == 0 {
		s.Say(term.Text("there is nothing to remove: only the program is installed"))
	}
	for _, path := range u.Kept {
		s.SayWhole(term.Styled(term.Faint, fmt.Sprintf("  %-13s  ", "stays")), term.Text(path))
	}
	s.SayWhole(term.Styled(term.Faint, "The program stays: "), term.Text(u.Program))
}
