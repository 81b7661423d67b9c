package hook

import (
	"strings"
	"testing"
)

func TestCLI12_SecretsAreMasked(t *testing.T) {
	x := func(n int) string { return strings.Repeat("aB3dE6gH1j", n/10+1)[:n] } // so that no scanner takes this file for a leak
	hexes := strings.Repeat("0a1b2c3d", 8)
	for text, want := range map[string]string{
		"use AKIA" + "ABCDEFGH2345" + "6777 here": "use [secret] here",
		"AIza" + x(35):        "[secret]",
		"ghp_" + x(36) + "!":  "[secret]!",
		"github_pat_" + x(30): "[secret]",
		"glpat-" + x(20):      "[secret]",
		"xoxb-" + x(30):       "[secret]",
		"https://hooks.slack.com/services/T0/" + x(30): "[secret]",
		"sk_live_" + x(24):          "[secret]",
		"whsec_" + x(32):            "[secret]",
		"sk-proj-" + x(40):          "[secret]",
		"sk-ant-api03-" + x(40):     "[secret]",
		"sk-" + x(48):               "[secret]",
		"npm_" + x(36):              "[secret]",
		"pypi-" + x(80):             "[secret]",
		"hf_" + x(34):               "[secret]",
		"SG." + x(22) + "." + x(43): "[secret]",
		"dop_v1_" + hexes:           "[secret]",
		"hvs." + x(30):              "[secret]",
		"dapi" + hexes[:32]:         "[secret]",
		"123456789:AA" + x(33):      "[secret]",
		"eyJ" + x(20) + ".eyJ" + x(20) + "." + x(20): "[secret]",
		"AccountKey=" + x(44) + ";":                  "AccountKey=[secret];",
		"Authorization: Bearer " + x(20):             "Authorization: Bearer [secret]",
		"-H 'authorization: Basic dXNlcjpwdw=='":     "-H 'authorization: Basic [secret]'",
		"postgres://me:hunter2@db:5432/x":            "postgres://me:[secret]@db:5432/x",
		"redis://:p4ss@h":                            "redis://:[secret]@h",
		"password=hunter2":                           "password=[secret]",
		"DB_PASSWORD=letmein && run":                 "DB_PASSWORD=[secret] && run",
		`"api_key": "abcdefgh"`:                      `"api_key": "[secret]"`,
		"token = 'abcdef'":                           "token = '[secret]'",
		"passwd: hunter22":                           "passwd: [secret]",
		"AWS_SECRET_ACCESS_KEY=" + x(40):             "AWS_SECRET_ACCESS_KEY=[secret]",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\nafter": "[secret]\nafter",
		"-----BEGIN RSA PRIVATE KEY-----\nthe rest was cut":                                  "[secret]",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----":    "[secret]",
	} {
		if got := masked(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
		if again := masked(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
}

func TestCLI12_WhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"commit 8fc82428d1a2b3c4d5e6f708192a3b4c5d6e7f80",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"6fa459ea-ee8a-3ca4-894e-db77e160355e",
		"data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 20),
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH me@host",
		"max_tokens: 4096, token_count=123456", "the token is checked: see below", "What is the secret: patience.",
		"password: string", "password = getPassword()", "token := r.token()", "api_key: ${API_KEY}", "token=$TOKEN", "password=<yours>",
		"https://example.com:8080/a@b", "git@github.com:ctxd/ctxd.git", "ssh://git@host/x", "https://user@host/path", "task-1234567890abcdefghij", "risk-averse and desk-bound",
		"keyboard: qwerty", "primary key: 12345678",
	} {
		if got := masked(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
