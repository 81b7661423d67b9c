package config

import (
	"os"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/vault"
)

// ruleMembers are the members of a rule of vault.write, in the order in which a word has them: NAME=VALUE, with commas
// between; the folder is last, since it may have commas itself.
var ruleMembers = []string{"vault", "remote", "folder"}

// rulesOf is a list of folders of vaults that may be written.
func rulesOf(at *[]vault.WriteRule) value {
	v := value{list: true, members: ruleMembers}
	v.Text = func() string {
		words := make([]string, len(*at))
		for i, r := range *at {
			words[i] = ruleWord(r)
		}
		return strings.Join(words, string(os.PathListSeparator))
	}
	v.raw = func() any {
		list := []map[string]any{}
		for _, r := range *at {
			item := map[string]any{"folder": r.Folder}
			if r.Vault != "" {
				item["vault"] = r.Vault
			}
			if r.Remote {
				item["remote"] = true
			}
			list = append(list, item)
		}
		return list
	}
	v.set = func(words []string) *fault.Error {
		rules := make([]vault.WriteRule, len(words))
		for i, w := range words {
			r, err := readRule(w)
			if err != nil {
				return err
			}
			rules[i] = r
		}
		*at = rules
		return nil
	}
	return v
}

func ruleWord(r vault.WriteRule) string {
	word := "folder=" + r.Folder
	if r.Remote {
		word = "remote=true," + word
	}
	if r.Vault != "" {
		word = "vault=" + r.Vault + "," + word
	}
	return word
}

// readRule reads vault=Work,remote=true,folder=/Inbox/, or a folder alone.
func readRule(word string) (r vault.WriteRule, err *fault.Error) {
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, format, args...).WithHint("write {folder: /Inbox/, vault: Work, remote: true}, of which only the folder is needed; / is a whole vault")
	}
	rest := word
	for {
		name, after, is := strings.Cut(rest, "=")
		if !is || name == "folder" || strings.Contains(name, "/") {
			if is && name == "folder" {
				rest = after
			}
			break
		}
		text, more, has := strings.Cut(after, ",")
		if !has {
			more = ""
		}
		switch {
		case name == "vault" && entities.CheckID("vault", text) == nil:
			r.Vault = text
		case name == "remote" && (text == "true" || text == "false"):
			r.Remote = text == "true"
		default:
			return r, bad("%q is no part of a folder that may be written", name+"="+text)
		}
		rest = more
	}
	switch {
	case rest == "":
		return r, bad("the folder is missing")
	case strings.ContainsAny(rest, "\x00\n\r\\") || strings.Contains("/"+rest+"/", "/../") || strings.Contains("/"+rest+"/", "/./"):
		return r, bad("%q is no folder within a vault", rest)
	}
	r.Folder = rest
	return r, nil
}

// mapText returns the word of an item of a list that is a map.
func mapText(members []string, n ast.Node) (string, *fault.Error) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	}
	given := make(map[string]string)
	for _, pair := range pairs {
		name, ok := scalarText(pair.Key)
		text, isText := scalarText(pair.Value)
		if !ok || !isText {
			return "", fault.New(fault.Invalid, "a member of its list is no name with a value").WithHint("it has %s", strings.Join(members, ", "))
		}
		given[name] = text
	}
	var words []string
	for _, m := range members {
		if text, is := given[m]; is {
			words = append(words, m+"="+text)
			delete(given, m)
		}
	}
	for name := range given {
		return "", fault.New(fault.Invalid, "its list has no member %q", nameable(name)).WithHint("it has %s", strings.Join(members, ", "))
	}
	return strings.Join(words, ","), nil
}
