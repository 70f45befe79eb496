def prime_factors(number: int) -> list[int]:
    """Split a whole number into its prime factors.

    Args:
        number: At least 2.
    """
    if number < 2:
        raise ValueError("only numbers from 2 on have prime factors")
    factors, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return [*factors, number] if number > 1 else factors
