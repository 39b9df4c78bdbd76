// The workloads of tests/bench with the lock of etcd's own client, which people pick in place of ZooKeeper's.
package main

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"zoolock/peers/workload"
)

const (
	dialTimeout    = 10 * time.Second
	sessionSeconds = 15
)

type lock struct {
	mutex *concurrency.Mutex
}

func (lock lock) Lock() error   { return lock.mutex.Lock(context.Background()) }
func (lock lock) Unlock() error { return lock.mutex.Unlock(context.Background()) }

func connect(hosts string) (workload.Make, func() error, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{hosts}, DialTimeout: dialTimeout})
	if err != nil {
		return nil, nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(sessionSeconds))
	if err != nil {
		return nil, nil, err
	}
	make := func(path string) workload.Lock {
		return lock{concurrency.NewMutex(session, path)}
	}
	end := func() error {
		if err := session.Close(); err != nil {
			return err
		}
		return client.Close()
	}
	return make, end, nil
}

func main() {
	workload.Main(connect)
}
