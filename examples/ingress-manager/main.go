// Command ingress-manager gives Services with the annotation ingress-manager.example.com/host an Ingress.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"example.com/ingress-manager/internal/manager"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		klog.Background().Error(err, "ingress-manager ends")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}
}

func run(ctx context.Context) error {
	var o manager.Options
	klog.InitFlags(nil)
	flag.StringVar(&o.WatchNamespace, "watch-namespace", "", "the one namespace to work in (default all)")
	flag.StringVar(&o.IngressClass, "ingress-class", "", "the class of all Ingresses (default the cluster's)")
	flag.StringVar(&o.Domain, "domain", "", "the domain in which all hosts must be, such as apps.example.com (default any host)")
	flag.IntVar(&o.Workers, "workers", 4, "how many Services are worked on at the same time")
	flag.Parse()

	// In a pod these are the account's token and the pod's namespace; elsewhere it is the kubeconfig that kubectl uses.
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	config, err := loader.ClientConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS = -1 // the API server itself shares its time fairly among its clients
	config.UserAgent = manager.Name
	if o.LeaseNamespace, _, err = loader.Namespace(); err != nil {
		return fmt.Errorf("find the namespace for the lease: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	o.Identity = host + "_" + string(uuid.NewUUID()) // a container that was restarted is another replica
	return manager.Run(ctx, config, o)
}
