// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
	// +kubebuilder:scaffold:imports
)

// k8sClient talks to the control plane that the tests of this package share, whose API server calls the webhooks.
var k8sClient client.Client

// TestMain runs the tests of this package against a control plane of their own.
func TestMain(m *testing.M) {
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		fmt.Fprintln(os.Stderr, "These tests need a control plane: `slipway test ./...` or `make test` brings one; "+
			"otherwise set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.")
		code = 1
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	utilruntime.Must(batchv1.AddToScheme(scheme.Scheme))
	utilruntime.Must(batchv2.AddToScheme(scheme.Scheme))
	// +kubebuilder:scaffold:scheme

	env := &envtest.Environment{
		Scheme:            scheme.Scheme, // knows which kinds are converted by webhook
		CRDDirectoryPaths: []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths:                    []string{filepath.Join("..", "..", "..", "config", "webhook", "manifests.yaml")},
			IgnoreErrorIfPathMissing: true, // there is none for conversion alone
		},
	}
	cfg, err := env.Start()
	if err != nil {
		return 0, fmt.Errorf("start the control plane: %w", err)
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	if k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme}); err != nil {
		return 0, fmt.Errorf("create a client: %w", err)
	}

	serving := env.WebhookInstallOptions
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: serving.LocalServingHost, Port: serving.LocalServingPort, CertDir: serving.LocalServingCertDir,
		}),
	})
	if err != nil {
		return 0, fmt.Errorf("create the manager: %w", err)
	}
	if err := SetupCronJobWebhookWithManager(mgr); err != nil {
		return 0, fmt.Errorf("set up the CronJob webhooks: %w", err)
	}
	// +kubebuilder:scaffold:webhook

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	started := mgr.GetWebhookServer().StartedChecker()
	if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return started(nil) == nil, nil
	}); err != nil {
		return 0, fmt.Errorf("wait for the webhook server: %w", err)
	}
	return m.Run(), nil
}
