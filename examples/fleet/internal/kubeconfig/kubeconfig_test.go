// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package kubeconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fleet/internal/kubeconfig"
)

// file is a kubeconfig with these lines in its cluster and its user.
func file(cluster, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {%s}}]
users: [{name: u, user: {%s}}]
`, cluster, user)
}

const (
	server = "server: https://member.example.com"
	token  = "token: s3cr3t"
)

// A token and an address are enough.
func TestParse(t *testing.T) {
	config, err := kubeconfig.Parse([]byte(file(server, token)))
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://member.example.com" || config.BearerToken != "s3cr3t" || config.Insecure {
		t.Errorf("got %s with a token of %d letters", config.Host, len(config.BearerToken))
	}
}

// What starts programs, reads files, lowers the guard or acts for others is refused by its name, and its value is not
// shown.
func TestRefused(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	for _, test := range []struct{ field, cluster, user string }{
		{"exec", server, `exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["` + marker + `"], interactiveMode: Never}, ` + token},
		{"auth-provider", server, `auth-provider: {name: oidc, config: {a: s3cr3t}}`},
		{"tokenFile", server, `tokenFile: /var/run/secrets/s3cr3t`},
		{"client-certificate", server, `client-certificate: /etc/s3cr3t, client-key: /etc/s3cr3t`},
		{"client-key", server, `client-certificate-data: YQ==, client-key: /etc/s3cr3t`},
		{"certificate-authority", server + ", certificate-authority: /etc/s3cr3t", token},
		{"insecure-skip-tls-verify", server + ", insecure-skip-tls-verify: true", token},
		{"proxy-url", server + ", proxy-url: http://s3cr3t.example.com", token},
		{"username", server, "username: admin, password: s3cr3t"},
		{"act-as", server, token + ", as: s3cr3t"},
	} {
		_, err := kubeconfig.Parse([]byte(file(test.cluster, test.user)))
		if !errors.Is(err, kubeconfig.ErrRefused) {
			t.Errorf("%s: %v", test.field, err)
			continue
		}
		if strings.Contains(err.Error(), "s3cr3t") || !strings.Contains(err.Error(), test.field) && test.field != "act-as" {
			t.Errorf("%s: the message is %q", test.field, err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program ran")
	}
}

// What is missing or cannot be read is invalid, and nothing of it is shown.
func TestInvalid(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"no YAML":            "\ts3cr3t: [",
		"another object":     "apiVersion: v1\nkind: Secret\nmetadata: {name: s3cr3t}\n",
		"no such context":    strings.Replace(file(server, token), "current-context: here", "current-context: s3cr3t", 1),
		"no such cluster":    strings.Replace(file(server, token), "cluster: c,", "cluster: s3cr3t,", 1),
		"no such user":       strings.Replace(file(server, token), "user: u}", "user: s3cr3t}", 1),
		"no server":          file("", token),
		"http":               file("server: http://s3cr3t.example.com", token),
		"a file as server":   file("server: file:///etc/s3cr3t", token),
		"a user in the URL":  file("server: https://s3cr3t@member.example.com", token),
		"no credentials":     file(server, ""),
		"no key":             file(server, "client-certificate-data: YQ=="),
		"broken certificate": file(server, "client-certificate-data: YQ==, client-key-data: YQ=="),
		"broken authority":   file(server+", certificate-authority-data: YQ==", token),
	} {
		_, err := kubeconfig.Parse([]byte(text))
		if !errors.Is(err, kubeconfig.ErrInvalid) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
