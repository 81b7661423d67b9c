package chats

// Setups are the settings that ctxd chat providers shows, by what is used.
func Setups() map[string]string {
	all := map[string]string{}
	for _, one := range setups {
		all[one.what] = one.settings
	}
	return all
}
