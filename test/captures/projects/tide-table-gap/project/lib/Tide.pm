package Tide;
use strict;
use warnings;

# Minutes between two high waters, given as minutes since midnight.
sub gap {
    my ($first, $second) = @_;
    return $second - $first;
}

1;
