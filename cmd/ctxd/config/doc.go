// Package config says how ctxd is set up: the settings with their names, units and bounds, the configuration file, the
// environment variables, and the flags of every command.
//
// Settings are declared in Config.daemonSettings, embedderSettings, chatSettings and limitSettings, a line each; the
// file, the variables, --set, ctxd config and the help all follow from that line. Load finds the value of each in the
// flags, the environment, config.yaml or its default, and remembers which it was. No other package reads the
// environment for a setting.
//
// The settings of a provider of language models, chat.providers.NAME, are made when a NAME is met for the first time,
// in the file, a variable or a flag.
//
// A Config is made for one command and does not change, so it may be read concurrently. Errors are *Error, which names
// the file and line, the variable or the flag, and *term.UsageError.
//
// Every package below cmd/ctxd may call it but term, on which it stands. It also keeps what goes with files that only
// the user may read or write: SecureFile, Folder.
//
// Wall: subject: the settings, and where the value of each comes from.
package config
