package markdown

// The two readers of frontmatter, so that a test can hold them against each
// other.
var (
	SimpleYAML = simpleYAML
	FullYAML   = fullYAML
)
