package nats_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
)

func TestSYNC2_WhatAServerWithoutALeaderSaysIsNotTheEndOfTheLog(t *testing.T) {
	for _, test := range []struct {
		cluster *jetstream.ClusterInfo
		led     bool
	}{
		{nil, true}, // it is alone
		{&jetstream.ClusterInfo{Name: "office", Leader: "one"}, true},
		{&jetstream.ClusterInfo{Name: "office"}, false},
	} {
		err := kvnats.Led(&jetstream.StreamInfo{Cluster: test.cluster})
		if (err == nil) != test.led || err != nil && !retryable(err) {
			t.Errorf("%+v: %v", test.cluster, err)
		}
	}
}

func TestSYNC4_WhyServersCannotBeReachedIsSaid(t *testing.T) {
	for says, cause := range map[string]error{
		"credentials":  nats.ErrAuthorization,
		"name of":      &net.DNSError{Name: "nas", IsNotFound: true},
		"authority":    x509.UnknownAuthorityError{},
		"another name": x509.HostnameError{Certificate: new(x509.Certificate), Host: "nas"},
		"not valid":    x509.CertificateInvalidError{Reason: x509.Expired},
		"no TLS":       nats.ErrSecureConnWanted,
		"keep streams": nats.ErrNoResponders,
		"reached":      errors.New("connection refused"),
		"answer":       context.DeadlineExceeded,
		"expired":      nats.ErrAuthExpired,
		"revoked":      nats.ErrAuthRevoked,
		"account":      nats.ErrAccountAuthExpired,
	} {
		err := kvnats.Unreachable(fmt.Errorf("dialing: %w", cause))
		var f *fault.Error
		if !errors.As(err, &f) || !f.Retryable || f.Hint == "" || !strings.Contains(f.Msg, says) {
			t.Errorf("%s: %v, hint %q", says, err, f.Hint)
		}
	}
}

func TestSYNC4_AFileOfCertificatesThatIsNotThereIsSaid(t *testing.T) {
	c := cluster(t)
	_, _, err := kvnats.CreateStore(t.Context(), kvnats.CreateOptions{Servers: kvnats.Servers{URL: c.URL(), CA: filepath.Join(t.TempDir(), "none.pem")}, Single: true})
	if err == nil || !strings.Contains(err.Error(), "a file of a certificate can't be read") {
		t.Errorf("%v", err)
	}
}

func TestSYNC8_APasswordMayHoldBlanksAndColons(t *testing.T) {
	for text, want := range map[string]nats.Options{
		"ctxd:a long one\n": {User: "ctxd", Password: "a long one"},
		"ctxd:a:b":          {User: "ctxd", Password: "a:b"},
		"token":             {Token: "token"},
	} {
		o, err := kvnats.Entering(text)
		if o.UserInfo != nil {
			o.User, o.Password = o.UserInfo()
		}
		if o.TokenHandler != nil {
			o.Token = o.TokenHandler()
		}
		if err != nil || o.User != want.User || o.Password != want.Password || o.Token != want.Token {
			t.Errorf("%q: user %q, password %q, token %q, %v", text, o.User, o.Password, o.Token, err)
		}
	}
}
