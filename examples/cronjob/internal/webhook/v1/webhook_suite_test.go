// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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
	// +slipway:scaffold:imports
)

// testEnv is the control plane that the tests of this package share, whose API server calls the webhooks. Once it runs,
// testEnv.Config is its administrator's.
var testEnv = &envtest.Environment{
	Scheme:            scheme.Scheme, // knows which kinds are converted by webhook
	CRDDirectoryPaths: []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
	WebhookInstallOptions: envtest.WebhookInstallOptions{
		Paths:                    []string{filepath.Join("..", "..", "..", "config", "webhook", "manifests.yaml")},
		IgnoreErrorIfPathMissing: true, // there is none for conversion alone
	},
}

// stopControlPlane stops what a test has started, if any has.
var stopControlPlane = testEnv.Stop

// TestMain runs the tests of this package, and stops the control plane if one of them has started it.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopControlPlane(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		code = 1
	}
	os.Exit(code)
}

// k8sClient and errStart are what startControlPlane returned.
var (
	starting  sync.Once
	k8sClient client.Client
	errStart  error
)

// controlPlane returns a client of the control plane, which the first test that calls it starts. TestMain cannot start
// it: go test takes a result from its cache unless a file or variable has changed that a test reads.
func controlPlane(t *testing.T) client.Client {
	t.Helper()
	starting.Do(func() { k8sClient, errStart = startControlPlane() })
	if errStart != nil {
		t.Fatalf("%v\nThis test needs a control plane: `slipway test ./...` or `make test` brings one; "+
			"otherwise set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.", errStart)
	}
	return k8sClient
}

// startControlPlane starts the control plane and a manager with the webhooks.
func startControlPlane() (client.Client, error) {
	os.Getenv("SLIPWAY_CONTROLLERS") // read by the control plane, and here so that go test knows
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	utilruntime.Must(batchv1.AddToScheme(scheme.Scheme))
	utilruntime.Must(batchv2.AddToScheme(scheme.Scheme))
	// +slipway:scaffold:scheme

	cfg, err := testEnv.Start()
	if err != nil {
		return nil, fmt.Errorf("start the control plane: %w", err)
	}
	serving := testEnv.WebhookInstallOptions
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: serving.LocalServingHost, Port: serving.LocalServingPort, CertDir: serving.LocalServingCertDir,
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	if err := SetupCronJobWebhookWithManager(mgr); err != nil {
		return nil, fmt.Errorf("set up the CronJob webhooks: %w", err)
	}
	// +slipway:scaffold:webhook

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopControlPlane = func() error {
		cancel()
		return errors.Join(<-ended, testEnv.Stop())
	}
	serves := mgr.GetWebhookServer().StartedChecker()
	if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return serves(nil) == nil, nil
	}); err != nil {
		return nil, fmt.Errorf("wait for the webhook server: %w", err)
	}
	return client.New(cfg, client.Options{Scheme: scheme.Scheme})
}
