package clusterspec_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterspec"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestFlagsOfFiles: a description of a cluster may be a repository's. Of the flags of kube-apiserver 1.37 it sets those
// that name no file, address or program, and do not say who may use the cluster; the command line sets any.
func TestFlagsOfFiles(t *testing.T) {
	const refused = `admission-control-config-file allow-metric-labels-manifest anonymous-auth audit-log-path audit-policy-file
		audit-webhook-config-file authentication-config authentication-token-webhook-config-file authorization-config authorization-mode
		authorization-policy-file authorization-webhook-config-file cert-dir client-ca-file debug-socket-path egress-selector-config-file
		encryption-provider-config etcd-cafile etcd-certfile etcd-keyfile kubelet-certificate-authority kubelet-client-certificate
		kubelet-client-key oidc-ca-file peer-ca-file proxy-client-cert-file proxy-client-key-file requestheader-client-ca-file
		service-account-key-file service-account-signing-endpoint service-account-signing-key-file tls-cert-file tls-private-key-file
		tls-sni-cert-key token-auth-file tracing-config-file audit_log_path
		oidc-client-id oidc-groups-claim oidc-issuer-url oidc-username-prefix
		allow-privileged audit-log-maxage authorization-always-allow-paths cors-allowed-origins enable-aggregator-routing
		enable-bootstrap-token-auth encryption-provider-config-automatic-reload etcd-servers-overrides external-hostname kubelet-timeout
		requestheader-allowed-names requestheader-username-headers service-account-issuer service-account-jwks-uri
		service-cluster-ip-range service-node-port-range tls-min-version a-flag-of-a-later-version`
	for _, name := range strings.Fields(refused) {
		_, err := clusterspec.Parse("f", []byte("apiServer: {flags: [--"+name+"=/tmp/x]}"))
		var e *report.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint, "give it on the command line instead: --api-server-flag ") {
			t.Errorf("--%s in a file: %v", name, err)
		}
		if _, err := clusterspec.ParseFlag("--" + name + "=/tmp/x"); err != nil {
			t.Errorf("--%s on the command line: %v", name, err)
		}
	}
	d, err := clusterspec.Parse("f", []byte("apiServer: {flags: [--disabled-metrics, --watch-cache]}"))
	if want := []string{"--disabled-metrics=true", "--watch-cache=true"}; err != nil || !slices.Equal(d.Spec.APIServerFlags, want) {
		t.Errorf("without values: %v, %v; a flag would have the next one for its value, also one of the command line", d.Spec.APIServerFlags, err)
	}
	const allowed = `disable-admission-plugins enable-admission-plugins event-ttl feature-gates max-mutating-requests-inflight
		max-requests-inflight max_requests_inflight request-timeout runtime-config v vmodule watch-cache`
	for _, name := range strings.Fields(allowed) {
		if _, err := clusterspec.Parse("f", []byte("apiServer: {flags: [--"+name+"=1]}")); err != nil {
			t.Errorf("--%s in a file: %v", name, err)
		}
	}
}
