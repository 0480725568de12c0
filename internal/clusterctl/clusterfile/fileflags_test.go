package clusterfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestFilesAreNotChosenByFiles: a description of a cluster may be a repository's, so it names no file that the API
// server reads or writes, and does not say who may use the cluster. These are all such flags of kube-apiserver 1.37.
func TestFilesAreNotChosenByFiles(t *testing.T) {
	const refused = `admission-control-config-file allow-metric-labels-manifest anonymous-auth audit-log-path audit-policy-file
		audit-webhook-config-file authentication-config authentication-token-webhook-config-file authorization-config authorization-mode
		authorization-policy-file authorization-webhook-config-file cert-dir client-ca-file debug-socket-path egress-selector-config-file
		encryption-provider-config etcd-cafile etcd-certfile etcd-keyfile kubelet-certificate-authority kubelet-client-certificate
		kubelet-client-key oidc-ca-file peer-ca-file proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file
		service-account-key-file service-account-signing-endpoint service-account-signing-key-file tls-cert-file tls-private-key-file
		tls-sni-cert-key token-auth-file tracing-config-file audit_log_path
		oidc-client-id oidc-groups-claim oidc-issuer-url oidc-username-prefix`
	for _, name := range strings.Fields(refused) {
		_, err := clusterfile.Parse("f", []byte("apiServer: {flags: [--"+name+"=/tmp/x]}"))
		var e *report.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "give it on the command line: --api-server-flag ") {
			t.Errorf("--%s in a file: %v", name, err)
		}
		if _, err := clusterfile.ParseFlag("--" + name + "=/tmp/x"); err != nil {
			t.Errorf("--%s on the command line: %v", name, err)
		}
	}
	const allowed = `audit-log-maxage audit-log-format audit-log-mode encryption-provider-config-automatic-reload event-ttl feature-gates
		max-requests-inflight requestheader-allowed-names runtime-config v vmodule watch-cache enable-admission-plugins service-account-issuer`
	for _, name := range strings.Fields(allowed) {
		if _, err := clusterfile.Parse("f", []byte("apiServer: {flags: [--"+name+"=1]}")); err != nil {
			t.Errorf("--%s in a file: %v", name, err)
		}
	}
}
