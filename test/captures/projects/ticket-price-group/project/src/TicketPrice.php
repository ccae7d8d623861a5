<?php

final class TicketPrice
{
    public static function forGroup(int $people): int
    {
        $each = $people > 10 ? 800 : 1000;

        return $people * $each;
    }
}
