package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrLost is returned when another replica may have become the leader: the process ends, and begins anew as one that
// waits.
var ErrLost = errors.New("the lease was lost")

// lead waits for the lease, calls work while it holds it, and gives it back afterwards. The context of work ends with
// ctx and with the loss of the lease.
func lead(ctx context.Context, client kubernetes.Interface, o Options, work func(context.Context) error) error {
	led := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(election(client, o, func(leading context.Context) { led <- leading }))
	if err != nil {
		return fmt.Errorf("take part in the election: %w", err)
	}
	// The election outlives ctx: the lease is held until the work has ended.
	electing, resign := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	go func() {
		defer close(over)
		elector.Run(electing)
	}()
	defer func() {
		resign()
		<-over
	}()
	select {
	case <-ctx.Done():
		return nil
	case leading := <-led:
		return workWhile(ctx, leading, work)
	}
}

// workWhile calls work with a context that ends with ctx, which is how the program is stopped, and with leading.
func workWhile(ctx, leading context.Context, work func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(leading, stop)()
	err := work(working)
	if leading.Err() != nil && ctx.Err() == nil {
		return errors.Join(ErrLost, err)
	}
	return err
}

// election describes the lease, with the times that Kubernetes' own components use.
func election(client kubernetes.Interface, o Options, begin func(context.Context)) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Name: Name,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: o.LeaseNamespace, Name: Name},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: begin,
			OnStoppedLeading: func() {}, // the context that begin got has ended
		},
	}
}
