package hook

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/entities/text"
)

// mask stands in the place of a secret.
const mask = "[secret]"

// secret is a kind of secret. A text is looked through only when it has one of the words, without regard to case. With a
// group the group alone is masked, with plausible only what that holds of.
type secret struct {
	words     []string
	pattern   func() *regexp.Regexp
	plausible func(value string) bool
}

// secrets are the forms of keys that services hand out, as they document them, and of assignments. A form belongs here
// when a service names it; a word that stands for many strings, such as 40 hexadecimal digits, does not: it would take
// commits and hashes, too.
var secrets = []secret{
	kind(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`, "private key"),
	kind(`\bAGE-SECRET-KEY-1[0-9A-Z]{58}`, "age-secret-key-1"),
	kind(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "akia", "asia", "abia", "acca"),
	kind(`\bAIza[\w-]{35}`, "aiza"),
	kind(`\bGOCSPX-[\w-]{20,}`, "gocspx-"),
	kind(`\bya29\.[\w-]{20,}`, "ya29."),
	kind(`\bgh[pousr]_[A-Za-z0-9]{36,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	kind(`\bgithub_pat_\w{22,}`, "github_pat_"),
	kind(`\bgl(?:pat|ptt|dt|rt|soat|ft|imt|agent|cbt|oas)-[\w.-]{20,}`, "glpat-", "glptt-", "gldt-", "glrt-", "glsoat-", "glft-", "glimt-", "glagent-", "glcbt-", "gloas-"),
	kind(`\bxox[abeoprs](?:\.xox[bp])?-[\w-]{10,}`, "xox"),
	kind(`\bxapp-[\w-]{20,}`, "xapp-"),
	kind(`https://hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}`, "hooks.slack.com"),
	kind(`\b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}`, "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
	kind(`\bwhsec_[A-Za-z0-9+/=]{20,}`, "whsec_"),
	kind(`\bsk-(?:ant|proj|svcacct|admin|or)-[\w-]{20,}`, "sk-"),
	kind(`\bsk-[A-Za-z0-9]{32,}`, "sk-"),
	kind(`\bnpm_[A-Za-z0-9]{36}`, "npm_"),
	kind(`\bpypi-[\w-]{50,}`, "pypi-"),
	kind(`\bhf_[A-Za-z0-9]{30,}`, "hf_"),
	kind(`\bSG\.[\w-]{20,24}\.[\w-]{39,50}`, "sg."),
	kind(`\bdo[opr]_v1_[a-f0-9]{64}`, "_v1_"),
	kind(`\bhv[sb]\.[\w-]{24,}`, "hvs.", "hvb."),
	kind(`\bdapi[0-9a-f]{32}`, "dapi"),
	kind(`\blin_api_[A-Za-z0-9]{40}`, "lin_api_"),
	kind(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),
	kind(`\b\d{8,10}:AA[\w-]{33}`, ":aa"),
	kind(`\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*`, "eyj"),
	kind(`(?i)\bAccountKey=([A-Za-z0-9+/=]{40,})`, "accountkey="),
	kind(`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([\w.~+/=-]{8,})`, "authorization"),
	kind(`(?i)\bbearer\s+([\w.~+/=-]{20,})`, "bearer"),
	kind(`\b[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@"']*:([^\s@/"']+)@`, "://"),
	// A value in quotes, or right behind its =; with a blank or colon between only one that has a digit, as prose has none.
	kind(`(?i)`+names+`["']?\s*(?::=|=>|[:=])\s*["']([^"'\s]{6,})["']`, nameWords...),
	kind(`(?i)`+names+`=([^\s"'`+"`"+`,;&(){}<>$\[\]]{4,})`, nameWords...),
	{words: nameWords, plausible: hasDigit, pattern: text.Pattern(`(?i)` + names + `["']?\s*[:=]\s*([^\s"'` + "`" + `,;&(){}<>$\[\]]{6,})`)},
}

// names are the ends of names of settings whose values are secrets.
const names = `(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|credentials?)`

var nameWords = []string{"passw", "passphrase", "pwd", "secret", "token", "key", "credential"}

func kind(pattern string, words ...string) secret {
	return secret{words: words, pattern: text.Pattern(pattern)}
}

func hasDigit(value string) bool { return strings.ContainsFunc(value, unicode.IsDigit) }

// masked returns a text with a mask in the place of what looks like a secret.
func masked(said string) string {
	folded := strings.ToLower(said)
	for i := range secrets {
		s := &secrets[i]
		if s.mayBeIn(folded) {
			said = s.masked(said)
		}
	}
	return said
}

func (s *secret) mayBeIn(folded string) bool {
	for _, word := range s.words {
		if strings.Contains(folded, word) {
			return true
		}
	}
	return false
}

func (s *secret) masked(said string) string {
	var b strings.Builder
	end := 0
	for _, at := range s.pattern().FindAllStringSubmatchIndex(said, -1) {
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		if s.plausible != nil && !s.plausible(said[from:to]) || said[from:to] == mask {
			continue
		}
		b.WriteString(said[end:from])
		b.WriteString(mask)
		end = to
	}
	if end == 0 {
		return said
	}
	b.WriteString(said[end:])
	return b.String()
}
