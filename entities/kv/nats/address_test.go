package nats_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// certificate writes a certificate of an authority of its own for loopback, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// answering is an address where something else than a NATS server answers.
func answering(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return ln.Addr().String()
}

func TestSYNC8_WhyAnAddressIsOfNoUseIsSaid(t *testing.T) {
	plain := cluster(t)
	cert, key := certificate(t)
	otherCert, otherKey := certificate(t)
	secure := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q }", cert, key)})
	asking := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, cert)})
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	secureWeb := httptest.NewUnstartedServer(http.NotFoundHandler())
	secureWeb.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secureWeb.StartTLS()
	t.Cleanup(secureWeb.Close)
	banner := answering(t, func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n"); _, _ = io.Copy(io.Discard, c) })
	closing := answering(t, func(net.Conn) {})
	closed := closedPort(t)
	tlsURL := func(c *natstest.Cluster) string { return strings.ReplaceAll(c.URLOf(0), "nats://", "tls://") }
	for name, test := range map[string]struct {
		servers     nats.Servers
		says, hints string
	}{
		"nobody listens":                 {nats.Servers{URL: "nats://" + closed}, "nothing listens", "port"},
		"a web server":                   {nats.Servers{URL: "nats://" + web.Listener.Addr().String()}, "says nothing", "store.sync.url"},
		"a web server with TLS":          {nats.Servers{URL: "tls://" + secureWeb.Listener.Addr().String()}, "says nothing", "store.sync.url"},
		"something that greets":          {nats.Servers{URL: "nats://" + banner}, "no NATS server", "store.sync.url"},
		"something that closes":          {nats.Servers{URL: "nats://" + closing}, "closes the connection", "store.sync.url"},
		"a name that is not known":       {nats.Servers{URL: "nats://nas.invalid:4222"}, "name of a server", "store.sync.url"},
		"TLS is wanted of one without":   {nats.Servers{URL: strings.ReplaceAll(plain.URLOf(0), "nats://", "tls://")}, "no TLS", "nats://"},
		"an authority that is not known": {nats.Servers{URL: tlsURL(secure)}, "authority", "store.sync.ca"},
		"another authority":              {nats.Servers{URL: tlsURL(secure), CA: otherCert}, "authority", "store.sync.ca"},
		"TLS that was not asked for":     {nats.Servers{URL: secure.URLOf(0)}, "authority", "store.sync.ca"},
		"another name":                   {nats.Servers{URL: strings.ReplaceAll(tlsURL(secure), "127.0.0.1", "localhost"), CA: cert}, "another name", "store.sync.url"},
		"no certificate of this machine": {nats.Servers{URL: tlsURL(asking), CA: cert}, "certificate of this machine", "store.sync.cert"},
		"a strange one":                  {nats.Servers{URL: tlsURL(asking), CA: cert, Cert: otherCert, CertKey: otherKey}, "certificate of this machine", "store.sync.cert"},
		"an authority that is no file":   {nats.Servers{URL: tlsURL(secure), CA: key + "x"}, "can't be read", "store.sync.ca"},
		"an authority that is a key":     {nats.Servers{URL: tlsURL(secure), CA: key}, "can't be read", "store.sync.ca"},
		"a key without its certificate":  {nats.Servers{URL: tlsURL(asking), CA: cert, Cert: cert, CertKey: otherKey}, "can't be read", "store.sync.certKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slow := test.says == "says nothing"
			if slow && test.servers.URL[:3] == "tls" && !campaign.Full() {
				t.Skip("it takes as long as a connection may: CTXD_CAMPAIGN=full")
			}
			_, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: test.servers, Single: true})
			wantSaid(t, "init", err, test.says, test.hints)
			if slow && !campaign.Full() {
				return
			}
			l, err := nats.OpenLog(test.servers, nats.NewIdentity(), slog.New(slog.DiscardHandler))
			if err != nil { // files are read at once
				wantSaid(t, "start", err, test.says, test.hints)
				return
			}
			defer l.Close()
			told(t, "start", test.says, test.hints, func() error { _, err := l.End(t.Context()); return err })
		})
	}
	for _, url := range []string{"localhost:4222", "http://nas:4222", "nats:/nas:4222", "nas", "nats://", "nats://nas:42x", "nats://nas:99999", "nats://a:4222,http://b", "nats://nas:4222/path", ""} {
		f := nats.CheckURL(url)
		if f == nil || f.Hint == "" {
			t.Errorf("%q is taken", url)
		}
	}
	good := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, cert)})
	if _, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: tlsURL(good), CA: cert, Cert: cert, CertKey: key}, Single: true}); err != nil {
		t.Errorf("with all that it takes: %v", err)
	}
}

func wantSaid(t *testing.T, what string, err error, says, hints string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Msg, says) || !strings.Contains(f.Hint, hints) {
		t.Errorf("%s: told %v", what, err)
	}
}

// closedPort is an address at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	ports, err := natstest.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}
