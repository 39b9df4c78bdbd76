// The workloads of tests/bench with go-zookeeper's lock.
package main

import (
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zoolock/peers/workload"
)

const sessionTimeout = 15 * time.Second

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func connect(hosts string) (workload.Make, func() error, error) {
	connection, _, err := zk.Connect(strings.Split(hosts, ","), sessionTimeout, zk.WithLogger(quiet{}))
	if err != nil {
		return nil, nil, err
	}
	make := func(path string) workload.Lock {
		return zk.NewLock(connection, path, zk.WorldACL(zk.PermAll))
	}
	end := func() error {
		connection.Close()
		return nil
	}
	return make, end, nil
}

func main() {
	workload.Main(connect)
}
