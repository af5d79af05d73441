make = lambda i, n=2: ttnn.CBDescriptor(total_size=n*64, format_descriptors=[ttnn.CBFormatDescriptor(i, ttnn.uintÎ          d = ttnn.cb_descriptor_from_sharded_tensor(1, t)
            d.total_size = self.n
        for k in [1, 2]:
            self.cbs.append(make(k, self.n))
