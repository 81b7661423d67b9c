package chats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/chats"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
)

// TestCHAT22_TheSettingsThatAreShownWork puts each of them into a configuration by itself.
func TestCHAT22_TheSettingsThatAreShownWork(t *testing.T) {
	for what, settings := range chats.Setups() {
		p := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(p, []byte(settings+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		conf, err := config.Load(p, nil)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		set, err := daemon.OpenProviders(&conf.Chat)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		answers, err := set.Provider("")
		if err != nil {
			t.Fatal(err)
		}
		in := answers.Info()
		here := strings.Contains(settings, "127.0.0.1")
		if in.Name != set.Default() || in.Name == "none" || in.Model == "" || in.Local != here || conf.Chat.Options(in.Name).Key == "" != here {
			t.Errorf("%s: %+v", what, in)
		}
	}
}
