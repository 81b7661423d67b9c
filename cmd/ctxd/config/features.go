package config

import "github.com/ctxd/ctxd/rpc/protocol"

// Features say which parts of the daemon are on, in the order of protocol.Features.
type Features []bool

func defaultFeatures() Features {
	f := make(Features, len(protocol.Features))
	for i := range f {
		f[i] = true
	}
	return f
}

// Off are the settings of those that are off.
func (f Features) Off() (settings []string) {
	for i := range f {
		if !f[i] {
			settings = append(settings, protocol.Features[i].Setting)
		}
	}
	return settings
}

// On tells whether the feature of a setting is on.
func (f Features) On(setting string) bool {
	for i := range f {
		if protocol.Features[i].Setting == setting {
			return f[i]
		}
	}
	return true
}

// Learns tells whether a feature that makes something of memories is on: they must be, too.
func (f Features) Learns(setting string) bool {
	return f.On(protocol.SettingMemoryEnabled) && f.On(setting)
}

func (c *Config) featureSettings() (list []*Setting) {
	for i := range protocol.Features {
		f := &protocol.Features[i]
		list = append(list, &Setting{key: f.Setting, about: "whether " + f.About, value: yesOf(&c.Records.Features[i])})
	}
	return list
}
